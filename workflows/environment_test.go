package workflows_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/workflows"
)

// workflowEnvironment is a test environment whose activities have all ended when ExecuteWorkflow returns. The SDK's
// own (v1.50.0) returns with the workflow, while an activity that the workflow cancelled goes on, and writes what the
// test reads.
type workflowEnvironment struct {
	*testsuite.TestWorkflowEnvironment
	activities *activities
}

func (e workflowEnvironment) ExecuteWorkflow(name any, in ...any) {
	e.TestWorkflowEnvironment.ExecuteWorkflow(name, in...)
	e.activities.mu.Lock()
	e.activities.closed = true
	e.activities.mu.Unlock()
	e.activities.running.Wait()
}

// activities counts the activities of an environment as they run, and lets none begin after its workflow.
type activities struct {
	interceptor.WorkerInterceptorBase
	running sync.WaitGroup
	mu      sync.Mutex
	closed  bool
}

func (a *activities) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &counted{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next}, of: a}
}

type counted struct {
	interceptor.ActivityInboundInterceptorBase
	of *activities
}

func (c *counted) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	c.of.mu.Lock()
	if c.of.closed {
		c.of.mu.Unlock()
		return nil, errors.New("the workflow has ended")
	}
	c.of.running.Add(1)
	c.of.mu.Unlock()
	defer c.of.running.Done()
	return c.Next.ExecuteActivity(ctx, in)
}

// environment is a test environment in which these activities do the work of workflows.
func environment(named map[string]any) workflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := workflowEnvironment{suite.NewTestWorkflowEnvironment(), &activities{}}
	env.SetWorkerOptions(worker.Options{
		DeadlockDetectionTimeout: time.Minute, // as worker has it
		Interceptors:             []interceptor.WorkerInterceptor{env.activities},
	})
	env.SetTestTimeout(5 * time.Minute)
	env.RegisterWorkflowWithOptions(workflows.Reproduce, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
	env.RegisterWorkflowWithOptions(workflows.Step, workflow.RegisterOptions{Name: workflows.StepWorkflow})
	for name, do := range named {
		env.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name})
	}
	return env
}
