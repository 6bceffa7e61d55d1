package worker

import (
	"context"
	"slices"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/workflows"
)

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
			all, _ := out.([]workflows.Outcome)
			if one, ok := out.(workflows.Outcome); ok {
				all = []workflows.Outcome{one}
			}
			done(len(all) == 0 || slices.ContainsFunc(all, func(x workflows.Outcome) bool { return x.NotHere == nil })) // what is left to others is no work
		}()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-i.w.leaving:
			cancel(activities.ErrEnding)
		case <-ctx.Done():
		}
	}()
	return i.Next.ExecuteActivity(ctx, in)
}
