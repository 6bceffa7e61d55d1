package worker_test

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
)

// TestStepsAreFoundByAddress asks a real server's visibility as a person does in
// the UI: by a search attribute, exactly.
func TestStepsAreFoundByAddress(t *testing.T) {
	b := newBench(t)
	src := `
step "text" "found" {
  for_each = toset(["x/y"])
  text     = each.key
}
`
	b.run(src, "visible")
	key := b.result(src, `step.text.found["x/y"]`).Key.Hex()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, query := range []string{
		`RedsiStep = "step.text.found[x/y]" AND RedsiOutcome = "ran"`,
		`RedsiKey = "` + key + `" AND WorkflowType = "Step"`,
	} {
		for n := int64(0); n != 1; { // visibility follows a little later
			r, err := b.c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: query})
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			n = r.Count
		}
	}
}
