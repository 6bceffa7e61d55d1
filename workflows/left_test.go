package workflows_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/workflows"
)

// TestLeftToOthers: a step is done by the worker that can, however often others have left it,
// which they do more often than an activity may fail.
func TestLeftToOthers(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.RegisterWorkflowWithOptions(workflows.Step, workflow.RegisterOptions{Name: workflows.StepWorkflow})
	n := 0
	for name, do := range map[string]any{
		workflows.ExecuteActivity: func(_ context.Context, req workflows.ExecuteRequest) (workflows.Executed, error) {
			if n++; n <= 300 {
				return workflows.Executed{Unfit: "redsi-models is not there"}, nil
			}
			return workflows.Executed{Key: req.Key}, nil
		},
		workflows.TurnActivity:     func(context.Context, workflows.ExecuteRequest) error { return nil },
		workflows.DescribeActivity: func(context.Context, workflows.DescribeRequest) (string, error) { return "", nil },
	} {
		env.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name})
	}
	env.ExecuteWorkflow(workflows.StepWorkflow, workflows.StepInput{Key: artifacts.Sum([]byte("k")), Task: artifacts.Sum([]byte("t")), Address: "step.train.x", Kind: "train", RunID: "r"})
	if err := env.GetWorkflowError(); err != nil || n != 301 {
		t.Errorf("after %d attempts: %v", n, err)
	}
}

// TestCancelledAtTheStart: a run that is cancelled in its next execution leaves the steps that
// go on from the one before, also those that it shares, though it has not come to them.
func TestCancelledAtTheStart(t *testing.T) {
	for _, during := range []string{workflows.LoadActivity, workflows.PrepareActivity} {
		t.Run(during, func(t *testing.T) { cancelledAtTheStart(t, during) })
	}
}

func cancelledAtTheStart(t *testing.T, during string) {
	cancel := func(env *testsuite.TestWorkflowEnvironment, now string) {
		if now == during {
			env.CancelWorkflow()
		}
	}
	journaled := false
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterWorkflowWithOptions(workflows.Reproduce, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
	carried := &workflows.Carried{}
	var err error
	if carried.Steps, err = workflows.PagesOf([]workflows.CarriedStep{{Index: 0, Status: runs.Running, Key: sum("own")},
		{Index: 1, Status: runs.Running, Key: sum("shared"), Shared: true}}, nil); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]any{
		workflows.LoadActivity: func(context.Context, workflows.LoadRequest) (l workflows.Loaded, err error) {
			cancel(env, workflows.LoadActivity)
			l.Plan, l.Name = sum("plan"), "t.hcl"
			l.Steps, err = workflows.PagesOf([]workflows.Head{{Address: "own", Splits: true}, {Address: "shared", Splits: true}}, nil)
			return l, err
		},
		workflows.PrepareActivity: func(context.Context, workflows.PrepareRequest) ([]workflows.Prepared, error) {
			cancel(env, workflows.PrepareActivity)
			return nil, nil
		},
		workflows.JournalActivity: func(_ context.Context, req workflows.JournalRequest) error {
			journaled = req.Run.Plan == sum("plan")
			return nil
		},
	} {
		env.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name})
	}
	const anything = "mock.Anything" // as the SDK's mocks know it
	var mu sync.Mutex                // signals are sent at the same time
	var left []string
	env.OnSignalExternalWorkflow(anything, anything, "", "leave", anything).Return(func(_, id, _, _ string, _ any) error {
		mu.Lock()
		defer mu.Unlock()
		left = append(left, id)
		return nil
	})
	env.ExecuteWorkflow(workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "t.hcl", RunID: "r", Carried: carried})
	slices.Sort(left)
	want := []string{workflows.StepWorkflowID(sum("own")), workflows.StepWorkflowID(sum("shared"))}
	slices.Sort(want)
	if err := env.GetWorkflowError(); !slices.Equal(left, want) || !journaled {
		t.Errorf("left %q, want %q; it has a record: %t; %v", left, want, journaled, err)
	}
}
