package activities

import (
	"context"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/workflows"
)

// Prepare binds the inputs of steps whose dependencies have results, looks their keys
// up, follows hits to steps that were asked for with them, and stores the bound tasks of
// those that are to be cut.
func (a *Activities) Prepare(ctx context.Context, req workflows.PrepareRequest) ([]workflows.Outcome, error) {
	w, err := a.newWalk(ctx, req.RunID, req.Plan, req.Steps, req.Keys)
	if err != nil {
		return nil, err
	}
	if _, err := w.advance(ctx); err != nil {
		return nil, err
	}
	out := make([]workflows.Outcome, len(w.steps))
	for n, x := range w.steps {
		o := &out[n]
		*o = w.outcome(x)
		switch {
		case x.isOwn(req.RunID, w.p) && !x.result.Released:
			*o, err = w.ran(ctx, x)
		case o.Status == runs.Failed:
			o.Error = bounded(o.Error, min(maxError/4, errorsMost/len(w.steps)))
		case o.Status == runs.Hit:
			a.Telemetry.Hits(w.p.Steps[x.Index].Task.Kind, 1)
		case x.Cut && x.seen && !x.lost:
			o.Task, err = a.storeTask(ctx, x.task)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// errorsMost bounds the errors of one answer, in bytes: with all else they fit a payload.
const errorsMost = 512 << 10
