package activities

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// notThePipeline is a mistake that a pipeline has now that some of its steps have run.
type notThePipeline struct{ error }

// Grow builds the plan that follows from a plan with pending steps and the results in the store.
func (a *Activities) Grow(ctx context.Context, req workflows.GrowRequest) (out workflows.Grown, err error) {
	was, err := a.storedPlan(ctx, req.Plan)
	if err != nil {
		return out, err
	}
	if here, _ := os.Getwd(); a.OnlyWorker && req.Dir != "" && req.Dir != here { // another project on this server: its names mean other files here
		out.Unfit = fmt.Sprintf("the names of its files start from %s, and this process works in %s", req.Dir, here)
		return out, rest(ctx, "", out.Unfit, restTime/10)
	}
	places, err := rowsOf(ctx, a, req.Gone)
	if err != nil {
		return out, err
	}
	gone := lists.Set(lists.Map(places, func(i int) string { return was.Steps[i].Address }))
	is, misfits, err := a.grown(ctx, was, req.Lock, req.RunID, gone)
	if invalid, ok := errors.AsType[*pipeline.Invalid](err); ok { // this worker lacks something
		out.Unfit = bounded(invalid.Diagnostics.Lines(), maxError/4) + " (" + a.Env["host"] + ")"
		return out, rest(ctx, "", out.Unfit, restTime/10)
	}
	if err != nil {
		return out, err
	}
	if out.Plan, err = plan.Store(ctx, a.Store.Own.Blobs, is); err != nil {
		return out, err
	}
	a.keep(out.Plan, is)
	heads, err := a.heads(ctx, is, req.Project)
	if err != nil {
		return out, err
	}
	var wrong []workflows.Misfit
	for i, s := range is.Steps {
		for _, ref := range s.Awaits {
			if why := misfits[ref]; why != "" {
				wrong = append(wrong, workflows.Misfit{Index: i, Why: why})
				break
			}
		}
	}
	if out.Steps, err = PagesOf(ctx, a.Store.Own.Blobs, heads); err == nil {
		out.Wrong, err = PagesOf(ctx, a.Store.Own.Blobs, wrong)
	}
	return out, err
}

// misfit returns the mistakes in a pipeline, by an error of its growth; "" if its steps' outputs are not the cause.
func misfit(err error, lock string) string {
	if invalid, ok := errors.AsType[*pipeline.Invalid](err); ok {
		if lacks := invalid.Diagnostics.Lacks; lacks.Secrets || lacks.Files && lock != "" {
			return ""
		}
		return invalid.Diagnostics.Lines()
	}
	if wrong, ok := errors.AsType[notThePipeline](err); ok {
		return wrong.Error()
	}
	return ""
}

// grown returns the plan that has grown from was, and why the pipeline cannot go on with some outputs.
func (a *Activities) grown(ctx context.Context, was *plan.Plan, lock, runID string, gone map[string]bool) (is *plan.Plan, misfits map[step.Ref]string, err error) {
	if was.Origin == nil {
		return was, nil, nil
	}
	misfits = map[step.Ref]string{}
	with := pipeline.Options{Registry: a.Registry, Env: os.Environ()}
	if a.OnlyWorker || lock != "" && a.Accepts(lock) == nil { // the pipeline lies here
		with = a.Beside(ctx)
	}
	with.Vars = a.Secrets
	g := plan.Grower{
		Origin: was.Origin,
		With:   with,
		Plan: func(p *pipeline.Pipeline) (*plan.Plan, error) {
			is, err := plan.Build(was.Pipeline, p, a.Registry, was.Targets)
			if err != nil {
				return nil, notThePipeline{err}
			}
			fresh := is.Adopt(was)
			if err := a.Resolve(ctx, is, fresh, lock); err != nil {
				return nil, notThePipeline{err}
			}
			return is, nil
		},
		Follow: func(pl *plan.Plan, keep plan.Keep) (*plan.Preview, error) {
			return a.follow(ctx, pl, runID, gone, keep)
		},
		Store: a.Store,
		Misfit: func(of []step.Ref, err error) bool {
			why := misfit(err, lock)
			if len(of) == 1 && why != "" {
				misfits[of[0]] = bounded(why, maxError/4)
			}
			return why != ""
		},
	}
	_, is, err = g.Grow(ctx, nil, was)
	return is, misfits, err
}
