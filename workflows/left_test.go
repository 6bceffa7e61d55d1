package workflows_test

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
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
