package worker

import (
	"context"
	"errors"
	"slices"

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
	if activity.GetInfo(ctx).ActivityType.Name != workflows.RestActivity {
		done := i.w.shift.working()
		defer func() {
			one, _ := out.(workflows.Outcome)
			all, _ := out.([]workflows.Outcome)
			left := slices.ContainsFunc(append(all, one), func(x workflows.Outcome) bool { return x.NotHere != nil })
			done(len(all) > 1 || !left) // what is left to others is no work
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
