package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/step"
)

// Grower plans steps that others decide, as far as results are there. Client and worker do it alike.
type Grower struct {
	Origin *pipeline.Origin // of the pipeline
	With   pipeline.Options // beside it
	// Plan makes a plan of it; Follow says which of the plan's results there are.
	Plan   func(*pipeline.Pipeline) (*Plan, error)
	Follow func(*Plan, Keep) (*Preview, error)
	Store  *artifacts.Resolver

	// Misfit is told of outputs with which there is no plan, then of smaller parts of them, and says whether to go on without; nil: no.
	Misfit func(of []step.Ref, err error) bool
}

const lostMost = 3 // restarts of one growth because an output is lost or corrupt

// Grow grows a loaded pipeline and its plan as far as results are there; its error is a *pipeline.Invalid if they do not fit.
func (g Grower) Grow(ctx context.Context, p *pipeline.Pipeline, pl *Plan) (*pipeline.Pipeline, *Plan, error) {
	outputs := map[step.Ref]artifacts.Artifact{}
	var unread error // the store's, not the pipeline's
	g.With.Stop = ctx.Err
	g.With.Made = func(ref step.Ref) (*pipeline.Made, error) {
		a, ok := outputs[ref]
		if !ok {
			return nil, nil
		}
		return &pipeline.Made{Artifact: a, Read: func(f artifacts.File) ([]byte, error) {
			b, err := artifacts.ReadBlob(ctx, g.Store, f.Digest, f.Size)
			if err != nil {
				err = fmt.Errorf("%s: %w", ref, err)
				unread = err
			}
			return b, err
		}}, nil
	}
	first, out := pl.First, pl.LeftOut
	misfit := map[step.Ref]bool{}
	lost := 0     // outputs that could not be read
	anew := false // the growth has restarted without outputs, to find out which of them fit
	// with grows by more outputs, or by as many of them as fit, in the order of their steps: an output is not to blame for
	// what a later one lacks.
	var with func(refs []step.Ref, of map[step.Ref]artifacts.Artifact) error
	with = func(refs []step.Ref, of map[step.Ref]artifacts.Artifact) error {
		for _, ref := range refs {
			outputs[ref] = of[ref]
		}
		loaded, ds := g.Origin.Load(g.With)
		if err := cmp.Or(ctx.Err(), unread); err != nil {
			return err
		}
		var grown *Plan
		err := ds.Err()
		if err == nil {
			grown, err = g.Plan(loaded)
		}
		if err == nil {
			p = loaded
			pl, _ = grown.Without(g.With.Registry, func(i int) bool { return slices.Contains(out, grown.Steps[i].Address) })
			pl.First = first
			return nil
		}
		if ctx.Err() != nil || g.Misfit == nil || len(refs) == 0 {
			return err
		}
		if !anew {
			anew = true
			clear(outputs)
			return with(nil, nil)
		}
		if !g.Misfit(refs, err) {
			return err
		}
		for _, ref := range refs {
			delete(outputs, ref)
		}
		if len(refs) == 1 {
			misfit[refs[0]] = true
			return nil
		}
		half := len(refs) / 2
		return cmp.Or(with(refs[:half], of), with(refs[half:], of))
	}
	for pl.Pending() {
		wanted, asked := make([]bool, len(pl.Steps)), *pl
		for i, s := range pl.Steps {
			for _, d := range s.Awaited {
				wanted[d] = true
			}
			if s.Pending() {
				asked.Steps = pl.Steps[:i+1] // what comes after the last of them decides nothing
			}
		}
		v, err := g.Follow(&asked, func(i int, _ *Item) bool { return wanted[i] })
		if err != nil {
			return nil, nil, err
		}
		var fresh []step.Ref
		of := map[step.Ref]artifacts.Artifact{}
		for _, s := range pl.Steps {
			for _, d := range s.Awaited {
				it := v.Items[d]
				if it.Outcome != Hit || len(it.Snags().Fails) > 0 {
					continue
				}
				for _, ref := range s.Awaits {
					if _, have := outputs[ref]; !have && !misfit[ref] && ref.Step == pl.Steps[d].Address && !slices.Contains(fresh, ref) {
						fresh, of[ref] = append(fresh, ref), it.Result.Outputs[ref.Output]
					}
				}
			}
		}
		if len(fresh) == 0 {
			break
		}
		if first.IsZero() {
			b, err := json.Marshal(pl) // as it is stored
			if err != nil {
				return nil, nil, err
			}
			first = artifacts.Sum(b)
		}
		err = with(fresh, of)
		if lost < lostMost && unread != nil && artifacts.IsLost(err) { // its step must run again
			lost++
			if bad, ok := errors.AsType[*artifacts.IntegrityError](err); ok {
				_, err = artifacts.DropCorrupt(ctx, g.Store.Own, bad.Want)
			}
			if unread = nil; err == nil || errors.Is(err, artifacts.ErrNotExist) { // another run may have dropped it
				clear(outputs)
				continue
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return p, pl, nil
}

// Adopt gives steps the tasks that an earlier plan of the run has for them, and returns the places of the other steps.
func (p *Plan) Adopt(before *Plan) (fresh []int) {
	tasks := make(map[string]*Step, len(before.Steps))
	for i := range before.Steps {
		if s := &before.Steps[i]; !s.Pending() {
			tasks[s.Address] = s
		}
	}
	for i := range p.Steps {
		if s := tasks[p.Steps[i].Address]; s != nil {
			p.Steps[i].Task = s.Task
		} else if !slices.Contains(before.LeftOut, p.Steps[i].Address) {
			fresh = append(fresh, i)
		}
	}
	return fresh
}
