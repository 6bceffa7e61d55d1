package workflows_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/workflows"
)

// TestInput is what a person may write after --input.
func TestInput(t *testing.T) {
	for text, wrong := range map[string]string{
		`{"pipeline":"p.hcl","targets":["table.t"],"vars":{"scale":"toy"},"fail_fast":true}`: "",
		`{"pipeline":"p.hcl","target":["table.t"]}`:                                          `unknown field "target"`,
		`{"pipeline":"p.hcl","vars":{"seeds":3}}`:                                            "vars.seeds of type string",
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
	errtest.None(t, err)
	var again workflows.ReproduceInput
	if err := json.Unmarshal(b, &again); err != nil || !reflect.DeepEqual(in, again) {
		t.Errorf("%s reads back as %+v, %v", b, again, err)
	}
}

// TestRefusedInput: what cannot be meant, or not be recorded, ends a run at its start.
func TestRefusedInput(t *testing.T) {
	more := json.RawMessage(`{"targets": ["table.t"]}`)
	for _, c := range []struct {
		want string
		args []any
	}{
		{"one input, which names", []any{workflows.ReproduceInput{}}},
		{"one input, which names", []any{workflows.ReproduceInput{Pipeline: "p.hcl"}, &more}},
		{"name blocks in place of", []any{workflows.ReproduceInput{Pipeline: "p.hcl", Targets: []string{strings.Repeat("x", 1<<20)}}}},
		{"queue-control", []any{workflows.ReproduceInput{Pipeline: "p.hcl"}}}, // it begins
	} {
		e := environment(nil)
		e.ExecuteWorkflow(workflows.ReproduceWorkflow, c.args...)
		errtest.Says(t, e.GetWorkflowError(), c.want)
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
