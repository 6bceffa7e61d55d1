package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// relayEvery is how often the progress of another run's step is asked for.
const relayEvery = 2 * time.Second

// Await waits for a Step workflow that another run started and returns what it
// came to, passing its progress on. A failure is the same failure here; a
// cancellation, a termination or the end of what another version of redsi began is
// not, and has its own type.
func (a *Activities) Await(ctx context.Context, workflowID string) (workflows.Executed, error) {
	return attempt(ctx, a, func(ctx context.Context, p *pulse) (workflows.Executed, error) { return a.await(ctx, p, workflowID) })
}

func (a *Activities) await(ctx context.Context, p *pulse, workflowID string) (workflows.Executed, error) {
	rctx, stop := context.WithCancel(ctx)
	defer stop()
	go a.relay(rctx, p, workflowID)
	var out workflows.Executed
	err := a.Client.GetWorkflow(ctx, workflowID, "").Get(ctx, &out)
	if err == nil || ctx.Err() != nil {
		return out, err
	}
	if temporal.IsCanceledError(err) || is[*temporal.TerminatedError](err) {
		return out, temporal.NewNonRetryableApplicationError(errorText(err), workflows.AwaitCancelled, nil)
	}
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		kind := app.Type()
		if kind == workflows.OtherVersionError {
			kind = workflows.AwaitCancelled
		}
		return out, temporal.NewNonRetryableApplicationError(app.Message(), kind, nil)
	}
	return out, err
}

// relay passes on the progress of the workflow that is waited for.
func (a *Activities) relay(ctx context.Context, p *pulse, workflowID string) {
	t := time.NewTicker(relayEvery)
	defer t.Stop()
	for ctx.Err() == nil {
		p.say(a.progressOf(ctx, workflowID))
		select {
		case <-ctx.Done():
		case <-t.C:
		}
	}
}

func (a *Activities) progressOf(ctx context.Context, workflowID string) *step.Progress {
	d, err := a.Client.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil || d.WorkflowExecutionInfo.Status != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil
	}
	for _, p := range d.PendingActivities {
		if one := ProgressOf(a.Codec, p); one != nil {
			return one
		}
	}
	return nil
}

// ProgressOf is what an activity's last heartbeat says; nil if it says nothing.
func ProgressOf(codec payload.Codec, p *workflow.PendingActivityInfo) *step.Progress {
	var one *step.Progress
	if ps := p.GetHeartbeatDetails().GetPayloads(); len(ps) == 0 || codec.DataConverter().FromPayload(ps[0], &one) != nil || one != nil && *one == (step.Progress{}) {
		return nil // it may be of another version
	}
	return one
}
