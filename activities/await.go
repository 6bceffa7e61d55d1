package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/workflows"
)

// Await waits for a Step workflow that another run started and returns what it
// came to, passing its progress on. A failure is the same failure here; a
// cancellation or termination is not, and has its own type.
func (a *Activities) Await(ctx context.Context, workflowID string) (workflows.Executed, error) {
	stop := make(chan struct{})
	defer close(stop)
	go a.relay(ctx, workflowID, stop)
	var out workflows.Executed
	err := a.Client.GetWorkflow(ctx, workflowID, "").Get(ctx, &out)
	if err == nil || ctx.Err() != nil {
		return out, err
	}
	var terminated *temporal.TerminatedError
	if temporal.IsCanceledError(err) || errors.As(err, &terminated) {
		return out, temporal.NewNonRetryableApplicationError(err.Error(), workflows.AwaitCancelled, err)
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return out, temporal.NewNonRetryableApplicationError(app.Message(), app.Type(), nil)
	}
	return out, err
}

func (a *Activities) relay(ctx context.Context, workflowID string, stop chan struct{}) {
	t := time.NewTicker(heartbeatEvery)
	defer t.Stop()
	for {
		activity.RecordHeartbeat(ctx, a.progressOf(ctx, workflowID))
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

func (a *Activities) progressOf(ctx context.Context, workflowID string) any {
	d, err := a.Client.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil || d.WorkflowExecutionInfo.Status != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil
	}
	for _, p := range d.PendingActivities {
		if len(p.GetHeartbeatDetails().GetPayloads()) > 0 {
			return string(p.HeartbeatDetails.Payloads[0].Data)
		}
	}
	return nil
}
