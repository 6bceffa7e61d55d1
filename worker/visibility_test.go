package worker_test

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/redsi/redsi/internal/system/errtest"
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
		errtest.None(t, err)
		n = r.Count
	}
}
