package workflows_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/workflows"
)

// TestInput is what a person may write after --input.
func TestInput(t *testing.T) {
	for text, wrong := range map[string]string{
		`{"pipeline":"p.hcl","targets":["table.t"],"vars":{"scale":"toy"},"fail_fast":true}`: "",
		`{"pipeline":"p.hcl","target":["table.t"]}`:                                          `unknown field "target"`,
		`{"pipeline":"p.hcl","vars":{"seeds":3}}`:                                            "vars of type string",
		`"p.hcl"`: "cannot unmarshal string",
	} {
		var in workflows.ReproduceInput
		switch err := json.Unmarshal([]byte(text), &in); {
		case wrong == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong) || !strings.Contains(err.Error(), `"targets"`)):
			t.Errorf("%s: %v, want %s and what an input is", text, err, wrong)
		}
	}
	digest := artifacts.Sum([]byte("plan"))
	in := workflows.ReproduceInput{Pipeline: "p.hcl", Targets: []string{"t"}, Vars: map[string]string{"a": "b"}, FailFast: true,
		Plan: &digest, RunID: "r"}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var again workflows.ReproduceInput
	if err := json.Unmarshal(b, &again); err != nil || !reflect.DeepEqual(in, again) {
		t.Errorf("%s reads back as %+v, %v", b, again, err)
	}
}

func TestInputWithoutPipeline(t *testing.T) {
	var s testsuite.WorkflowTestSuite
	e := s.NewTestWorkflowEnvironment()
	e.ExecuteWorkflow(workflows.Reproduce, workflows.ReproduceInput{})
	if err := e.GetWorkflowError(); err == nil || !strings.Contains(err.Error(), "names no pipeline") {
		t.Errorf("got %v", err)
	}
}

// TestRunIDsSortByTime: also those of one second.
func TestRunIDsSortByTime(t *testing.T) {
	at, last := time.Date(2026, 11, 21, 16, 25, 7, 0, time.UTC), ""
	for i := range 4 {
		id := workflows.NewRunID(at.Add(time.Duration(i)*time.Millisecond), "fedcba98"[i:])
		if id <= last || len(id) != len("20261121T162507Z-01234567") {
			t.Errorf("%s after %s", id, last)
		}
		last = id
	}
}

// TestRunBegan reads the time of a run's id.
func TestRunBegan(t *testing.T) {
	at := time.Date(2026, 11, 21, 16, 25, 7, 999, time.UTC)
	if got, ok := workflows.RunBegan(workflows.NewRunID(at, "0123456789abcdef")); !ok || !got.Equal(at.Truncate(time.Second)) {
		t.Error(got, ok)
	}
	for _, id := range []string{"", "mine", "2026-11-21"} {
		if got, ok := workflows.RunBegan(id); ok {
			t.Errorf("%q: %s", id, got)
		}
	}
}
