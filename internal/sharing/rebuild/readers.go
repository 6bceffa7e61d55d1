package rebuild

import (
	"context"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// readers returns a function that finds the steps of a kind that read an output of a step and whose other inputs exist.
func (r *runner) readers(address string) func(ctx context.Context, output, kind string) ([]activities.Reader, error) {
	return func(ctx context.Context, output, kind string) (list []activities.Reader, err error) {
		if err := r.around(ctx); err != nil {
			return nil, err
		}
		for _, i := range r.reads[step.Ref{Step: address, Output: output}] {
			s, it := r.everything.Plan.Steps[i], r.everything.Items[i]
			if s.Task.Kind == kind && it.Outcome != plan.Maybe {
				list = append(list, activities.Reader{Address: s.Address, Task: it.Task()})
			}
		}
		return list, nil
	}
}

// around looks up the whole pipeline, once: no target needs the steps that evaluate a model.
func (r *runner) around(ctx context.Context) error {
	if r.everything != nil {
		return nil
	}
	evaluate := map[string]bool{}
	for _, k := range r.Registry.Kinds() {
		for _, o := range k.Outputs {
			if rule, ok := o.Rule().(step.Evaluated); ok {
				evaluate[rule.By] = true
			}
		}
	}
	r.Targets = nil
	pl, _, err := r.LoadPlan(ctx)
	if err != nil {
		return err
	}
	reads := map[step.Ref][]int{}
	for i, s := range pl.Steps {
		if !evaluate[s.Task.Kind] {
			continue
		}
		err := plan.InputsOf(s.Task, func(_ string, in step.Input) {
			if in.Ref != nil {
				reads[in.Ref.WithoutPath()] = append(reads[in.Ref.WithoutPath()], i)
			}
		})
		if err != nil {
			return err
		}
	}
	v, err := r.PreviewOf(ctx, r.store, pl, func(i int, _ *plan.Item) bool { return evaluate[pl.Steps[i].Task.Kind] })
	if err != nil {
		return err
	}
	r.everything, r.reads = v, reads
	return nil
}
