package workflows_test

import (
	"context"
	"testing"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/workflows"
)

// TestLeftToOthers: a step is done by the worker that can, however often others have left it,
// which they do more often than an activity may fail; so is a part.
func TestLeftToOthers(t *testing.T) {
	n := 0
	leaves := func(x workflows.Outcome) workflows.Outcome {
		if n++; n <= 300 {
			x.NotHere = &workflows.NotHere{Why: "redsi-models is not there"}
			return x
		}
		x.Status, x.Key = runs.Ran, sum("k")
		return x
	}
	env := environment(map[string]any{
		workflows.LoadActivity: func(context.Context, workflows.LoadRequest) (l workflows.Loaded, err error) {
			l.Plan, l.Name = sum("plan"), "t.hcl"
			l.Steps, err = workflows.PagesOf([]workflows.Head{{Address: "step.train.x", Kind: "train"}}, nil)
			return l, err
		},
		workflows.PrepareActivity: func(context.Context, workflows.PrepareRequest) ([]workflows.Outcome, error) {
			return []workflows.Outcome{{Status: runs.Waiting, Key: sum("k")}}, nil
		},
		workflows.DoActivity: func(context.Context, workflows.DoRequest) ([]workflows.Outcome, error) {
			return []workflows.Outcome{leaves(workflows.Outcome{Status: runs.Waiting})}, nil
		},
		workflows.RestActivity:    func(context.Context, workflows.RestRequest) error { return nil },
		workflows.JournalActivity: func(context.Context, workflows.JournalRequest) error { return nil },
	})
	env.ExecuteWorkflow(workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "t.hcl", RunID: "r"})
	if err := env.GetWorkflowError(); err != nil || n != 301 {
		t.Errorf("after %d attempts: %v", n, err)
	}
}

// TestCancelledAtTheStart: a run that is cancelled as its next execution loads its plan writes its record.
func TestCancelledAtTheStart(t *testing.T) {
	carried := &workflows.Carried{}
	var err error
	if carried.Steps, err = workflows.PagesOf([]workflows.CarriedStep{{StepState: workflows.StepState{Index: 0, Status: runs.Ran, Key: sum("own")}}}, nil); err != nil {
		t.Fatal(err)
	}
	var ran int
	var env workflowEnvironment
	env = environment(map[string]any{
		workflows.LoadActivity: func(context.Context, workflows.LoadRequest) (l workflows.Loaded, err error) {
			env.CancelWorkflow()
			l.Plan, l.Name = sum("plan"), "t.hcl"
			l.Steps, err = workflows.PagesOf([]workflows.Head{{Address: "own"}, {Address: "other"}}, nil)
			return l, err
		},
		workflows.JournalActivity: func(_ context.Context, req workflows.JournalRequest) error {
			ran = req.Run.Counts[runs.Ran]
			return nil
		},
	})
	env.ExecuteWorkflow(workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "t.hcl", RunID: "r", Carried: carried})
	if err := env.GetWorkflowError(); err == nil || ran != 1 {
		t.Errorf("its record has %d steps that ran; %v", ran, err)
	}
}
