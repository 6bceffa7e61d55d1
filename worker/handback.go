package worker

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"

	"github.com/redsi/redsi/workflows"
)

// errEnding is why an activity of a worker that stops is interrupted. It is not a
// cancellation, so the activity is given to another worker at once.
var errEnding = errors.New("the worker is ending")

// handBack interrupts the activities of a worker that stops, so that they are
// answered for before it has ended, and not missed by their heartbeats later.
type handBack struct {
	interceptor.WorkerInterceptorBase
	w *Worker
}

func (h *handBack) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	i := &handBackActivity{w: h.w}
	i.Next = next
	return i
}

type handBackActivity struct {
	interceptor.ActivityInboundInterceptorBase
	w *Worker
}

func (i *handBackActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (out any, err error) {
	if name := activity.GetInfo(ctx).ActivityType.Name; name != workflows.AwaitActivity && name != workflows.TurnActivity { // waiting is not work
		done := i.w.shift.working()
		defer func() {
			x, _ := out.(workflows.Executed)
			done(!x.Busy && x.Unfit == "") // nor is what is left to others
		}()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-i.w.leaving:
			cancel(errEnding)
		case <-ctx.Done():
		}
	}()
	return i.Next.ExecuteActivity(ctx, in)
}
