package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// restTime is how long a step rests after a worker has left it to another one.
const restTime = 5 * time.Second

// Rest returns when a step may be asked for again: when nobody else is working on its key, with whatever Temporal
// server; or after restTime, if the worker could not do it.
func (a *Activities) Rest(ctx context.Context, req workflows.RestRequest) error {
	if !req.NotHere.Busy {
		return rest(ctx, req.Address, req.NotHere.Why, restTime)
	}
	return a.Leases.Wait(ctx, req.Key, claim(ctx, req.RunID, req.Address), func(l lease.Lease) {
		step.Reporter(ctx)(step.Progress{Step: req.Address, Note: fmt.Sprintf("waiting for %s", l)})
	})
}

// rest sleeps for a while, so that another worker may take what this worker left, and reports why.
func rest(ctx context.Context, address, why string, while time.Duration) error {
	step.Reporter(ctx)(step.Progress{Step: address, Note: "waiting for another worker: " + why})
	_ = readers.Pause(ctx, while)
	return ctx.Err()
}

// claim says for whom a lease is taken: all attempts of an activity have the same claim.
func claim(ctx context.Context, run, address string) lease.Claim {
	c := lease.Claim{Run: run, Step: address}
	if activity.IsActivity(ctx) {
		i := activity.GetInfo(ctx)
		c.Attempt = i.Namespace + "/" + i.WorkflowExecution.ID + "/" + i.WorkflowExecution.RunID + "/" + i.ActivityID
	}
	return c
}
