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
			if err != nil {
				t.Fatal(err)
			}
			r.RegisterWorkflowWithOptions(workflows.Reproduce, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
			r.RegisterWorkflowWithOptions(workflows.Step, workflow.RegisterOptions{Name: workflows.StepWorkflow})
			file, err := os.Open(f)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			z, err := gzip.NewReader(file)
			if err != nil {
				t.Fatal(err)
			}
			h, err := client.HistoryFromJSON(z, client.HistoryJSONOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.ReplayWorkflowHistory(nil, h); err != nil {
				t.Fatal(err)
			}
		})
	}
}
