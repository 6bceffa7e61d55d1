package activities

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// walk follows results through steps that were asked for together: it looks a step up as soon as all of its inputs
// have results.
type walk struct {
	a       *Activities
	p       *plan.Plan
	steps   []*walked                 // as they were asked for
	keys    []workflows.DoneStep      // of inputs, from the run
	results map[int]*artifacts.Result // by index in the plan
	gone    map[int]bool              // by index: steps without a result, without which steps that gather them go on
	open    step.Opener               // for checks
	begun   bool
	at      time.Time // when the run began
}

// walked is a step of a walk. It has a key and a task once all of its inputs have results.
type walked struct {
	workflows.Ready
	seen   bool // it was looked up, or something is wrong with it
	key    artifacts.Digest
	task   step.Task
	result *artifacts.Result
	lost   bool // an input has no result any more, or no bytes that the step needs
	wrong  string
}

// isOwn reports whether the run itself left the step's result: in an attempt whose answer was lost, or in an earlier
// execution.
func (x *walked) isOwn(run string, p *plan.Plan) bool {
	return x.result != nil && run != "" && x.result.Origin.RunID == run && x.result.Origin.Step == p.Steps[x.Index].Address
}

func (a *Activities) newWalk(ctx context.Context, runID string, pl artifacts.Digest, steps []workflows.Ready, keys workflows.Pages[workflows.DoneStep]) (*walk, error) {
	p, err := a.storedPlan(ctx, pl)
	if err != nil {
		return nil, err
	}
	w := &walk{a: a, p: p, results: map[int]*artifacts.Result{}, gone: map[int]bool{}, at: began(runID), open: step.Remembered(a.Store.Open)}
	for _, s := range steps {
		w.steps = append(w.steps, &walked{Ready: s})
	}
	w.keys, err = rowsOf(ctx, a, keys)
	return w, err
}

// inputs looks up the inputs that have results, in one batch.
func (w *walk) inputs(ctx context.Context) error {
	var keys []artifacts.Digest
	of := make(map[int]artifacts.Digest, len(w.keys))
	for _, k := range w.keys {
		w.gone[k.Index] = k.Gone
		if of[k.Index] = k.Key; !k.Key.IsZero() {
			keys = append(keys, k.Key)
		}
	}
	found, err := artifacts.LookupKnown(ctx, w.a.Store, keys)
	if err != nil {
		return err
	}
	for _, x := range w.steps {
		for _, d := range w.p.Steps[x.Index].Deps {
			key, ok := of[d]
			r := found[key]
			switch {
			case !ok:
				x.seen, x.wrong = true, "the run asked for this step without the keys of its inputs: another version of redsi started the run; run again"
			case key.IsZero():
			case r != nil && (!r.Released || w.p.Steps[d].Temporary):
				w.results[d] = r
			default:
				x.seen, x.lost = true, true
			}
		}
	}
	return nil
}

// advance looks up every step whose inputs have results by now, then the steps that follow from hits, and returns the
// steps without a result, in order.
func (w *walk) advance(ctx context.Context) (misses []*walked, err error) {
	if !w.begun {
		if err := w.inputs(ctx); err != nil {
			return nil, err
		}
		w.begun = true
	}
	for {
		var wave []*walked
		var keys []artifacts.Digest
		for _, x := range w.steps {
			if x.seen || !w.hasInputs(x.Index) {
				continue
			}
			x.seen = true
			task, key, _, err := w.p.Bind(w.a.Registry, x.Index, func(d int) *artifacts.Result { return w.results[d] })
			if err != nil {
				x.wrong = bounded(err.Error(), maxError/4)
				continue
			}
			x.task, x.key = task, key
			wave, keys = append(wave, x), append(keys, key)
		}
		if len(wave) == 0 {
			return misses, nil
		}
		found, err := artifacts.LookupKnown(ctx, w.a.Store, keys)
		if err != nil {
			return nil, err
		}
		for _, x := range wave {
			released := w.released(x.Index)
			if r := found[x.key]; r != nil && !plan.IsStale(r.Finished, w.p.Steps[x.Index].Fresh, w.at) && (!r.Released || w.p.Steps[x.Index].Temporary && !x.Bytes) {
				x.result = r
			}
			if x.result != nil {
				err := w.a.checked(ctx, w.open, w.p.Steps[x.Index].Address, x.task, x.result)
				switch {
				case err == nil, errors.Is(err, artifacts.ErrNotExist) && (x.result.Released || released): // it was judged when its bytes were there
					w.results[x.Index] = x.result
					continue
				case step.IsPermanent(err):
					x.wrong, x.result = bounded(err.Error(), maxError/4), nil
					continue
				case !artifacts.IsLost(err), w.a.misread(ctx, err):
					return nil, err
				}
				x.result = nil // it is to be computed again
			}
			if x.lost = released; !released {
				misses = append(misses, x)
			}
		}
	}
}

// outcome returns the outcome of a step that was looked up and did not run.
func (w *walk) outcome(x *walked) workflows.Outcome {
	out := workflows.Outcome{Index: x.Index, Key: x.key, Status: runs.Waiting, Lost: x.lost}
	switch {
	case x.wrong != "":
		out.Status, out.Error, out.Type = runs.Failed, x.wrong, workflows.PermanentError
	case x.result != nil:
		out.Status, out.TookS, out.From = runs.Hit, x.result.Took.Seconds(), x.result.Origin.RunID
	}
	return out
}

// ran returns the outcome of a step whose result the run itself left.
func (w *walk) ran(ctx context.Context, x *walked) (out workflows.Outcome, err error) {
	out = workflows.Outcome{Index: x.Index, Status: runs.Ran, TookS: x.result.Took.Seconds()}
	out.Key, out.Pins, err = w.a.filePinned(ctx, w.a.Registry.Lookup(x.task.Kind), x.task, *x.result)
	return out, err
}

// released reports whether an input of a step was released: if the step must run, the input is computed again.
func (w *walk) released(i int) bool {
	return slices.ContainsFunc(w.p.Steps[i].Deps, func(d int) bool { return w.results[d] != nil && w.results[d].Released })
}

func (w *walk) hasInputs(i int) bool {
	return !slices.ContainsFunc(w.p.Steps[i].Deps, func(d int) bool { return w.results[d] == nil && !w.gone[d] })
}

// Prepare binds the inputs of steps whose dependencies have results, looks their keys up, follows hits to steps that
// were asked for with them, and stores the bound tasks of steps that are to be cut.
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
