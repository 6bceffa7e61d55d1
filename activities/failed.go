package activities

import (
	"context"
	"errors"
	"time"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/workflows"
)

// keepFailure records how a step failed. That may fail too: it is only told then, and an
// attempt that is not the last says so again.
func (a *Activities) keepFailure(ctx context.Context, req workflows.ExecuteRequest, of admitted, took time.Duration, log *stepLog, cause error) {
	if req.RunID == "" {
		return
	}
	f := runs.Failure{RunID: req.RunID, Step: req.Address, Key: req.Key, Outcome: runs.Failed, Error: errorText(cause),
		Attempt: attemptOf(ctx), Host: runs.Place(a.Env), Ended: time.Now().UTC(), TookS: took.Seconds()}
	f.Tries = of.failed
	if again, ok := errors.AsType[*failedTry](cause); ok {
		f.Tries = again.failed
		a.Log.Warn("its program failed; it is tried again", "step", req.Address, "try", again.failed, "of", of.asks.Tries+1)
	}
	if ctx.Err() != nil {
		f.Outcome = runs.Cancelled
	}
	if errors.Is(context.Cause(ctx), ErrEnding) {
		before, _ := runs.ReadFailure(context.WithoutCancel(ctx), a.Store.Own, req.RunID, req.Key) // of a store that is away, which is told below
		f.Cut, f.NeedsS = before.Cut+1, max(before.NeedsS, took.Seconds())
	}
	f.Revision, f.Permanent = a.Env["revision"], f.Outcome == runs.Failed && permanent(cause, failed(ctx).Load()+1)
	most := time.Duration(0)
	if f.Permanent || f.Tries > of.failed {
		most = outageTime
	}
	if err := insist(ctx, most, func() error {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), failureTime)
		defer stop()
		f := f
		f.Log = log.keep(ctx, a, req.Address)
		err := runs.WriteFailure(ctx, a.Store.Own, f)
		if f.Permanent && !req.Of.IsZero() {
			f.Key, f.Part, f.Log = req.Of, req.Key, nil
			err = errors.Join(err, runs.WriteFailure(ctx, a.Store.Own, f))
		}
		return err
	}); err != nil {
		a.Log.Warn("could not record the step's failure", "step", req.Address, "err", err)
	}
}
