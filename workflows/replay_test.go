package workflows_test

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/workflows"
)

// TestReplay runs today's workflow code over saved histories, those of releases before
// this one among them. If it fails, runs that are in flight would fail the same way, and
// be started again: keep the old path behind workflow.GetVersion, or say so in the change
// and remove the history. `go test ./worker -update` writes those that are not there.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json*"))
	if err != nil || len(files) < 13 {
		t.Fatalf("%d histories, %v", len(files), err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".json.gz"), func(t *testing.T) {
			r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true}) // a busy machine is none
			errtest.None(t, err)
			r.RegisterWorkflowWithOptions(workflows.Reproduce, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
			r.RegisterWorkflowWithOptions(workflows.Step, workflow.RegisterOptions{Name: workflows.StepWorkflow})
			file, err := os.Open(f)
			errtest.None(t, err)
			defer file.Close()
			z, err := gzip.NewReader(file)
			errtest.None(t, err)
			h, err := client.HistoryFromJSON(z, client.HistoryJSONOptions{})
			errtest.None(t, err)
			errtest.None(t, r.ReplayWorkflowHistory(nil, h))
		})
	}
}
