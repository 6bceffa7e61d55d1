package worker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/sdk/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestRunsAreFoundByPipeline asks a real server's visibility as a person does in
// the UI: by a search attribute, exactly.
func TestRunsAreFoundByPipeline(t *testing.T) {
	b := newBench(t)
	b.run(`step "text" "found" { text = "x/y" }`, "visible")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	query := `RedsiPipeline = "t.hcl" AND WorkflowType = "Reproduce" AND WorkflowId = "` + t.Name() + `/visible"`
	for n := int64(0); n != 1; { // visibility follows a little later
		r, err := b.c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: query})
		testkit.None(t, err)
		n = r.Count
	}
}

// details are what the UI shows of a workflow now.
func (b *bench) details(id string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	v, err := b.c.QueryWorkflow(ctx, id, "", "__temporal_workflow_metadata")
	testkit.None(b.t, err)
	var m sdk.WorkflowMetadata
	testkit.None(b.t, v.Get(&m))
	return m.CurrentDetails
}

func has(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s has no %s:\n%s", what, w, text)
		}
	}
	if len(text) > 8<<10 {
		t.Errorf("%s has %d bytes", what, len(text))
	}
}

// TestDetails: the UI's page of a run says what its steps came to and who made its hits.
func TestDetails(t *testing.T) {
	b := newBench(t)
	b.fails("broken", "no `luck` | at all")
	src := `
step "text" "first" { text = "one" }
step "text" "second" {
  for_each = toset(["a|b"])
  text     = "two"
  after    = [step.text.first.out]
}
`
	b.run(src, "details-1")
	has(t, "the run", b.details(t.Name()+"/details-1"), "2 ran", "| `step.text.second` | 0 | 1 |", "`step.text.second[\"a\\|b\"]`", "redsi trace STEP")

	broke := src + `step "text" "third" { text = "broken" }`
	w := b.start(broke, "details-2")
	if _, err := b.wait(w); err == nil {
		t.Fatal("it did not fail")
	}
	has(t, "the other run", b.details(t.Name()+"/details-2"), "2 hit, 0 ran, 1 failed", "| `step.text.second` | 1 | [`TestDetailsdetails-1`]", "`` no `luck` \\| at all ``")
}
