package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/workflows"
)

func newForceCmd(a *app) *cobra.Command {
	var downstream bool
	cmd := &cobra.Command{
		Use:   "force STEP",
		Short: "Forget a step's result, so that the next run makes it again",
		Long: `Forget a step's result, so that the next run makes it again.

There are three use cases:

  run a step again              redsi force STEP: its result and those of its
                                parts are forgotten; steps that read it run
                                only if its bytes change
  run all that reads it, too    redsi force --downstream STEP
  see whether it gives the      redsi verify --rebuild STEP: runs it here and
  same                          compares; the existing result stays

Blobs stay in the store until ` + "`redsi gc`" + `.`,
		Example: `  redsi force 'step.dedup.nq["url"]' && redsi run
  redsi force --downstream step.extract.train`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := a.previewAround(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			chosen := selected(v.Plan, args[0], downstream)
			forgotten := []string{}
			for i, it := range v.Items {
				if !chosen[i] || it.Result == nil {
					continue
				}
				if from := it.Result.From; from != "" {
					a.say(fmt.Sprintf("%s: its result is in %s, which is read-only; a run that does not look there runs the step", v.Plan.Steps[i].Address, from))
					continue
				}
				if err := a.forget(cmd.Context(), v.Store, v.Preview, i); err != nil {
					return fmt.Errorf("%s: %w", v.Plan.Steps[i].Address, err)
				}
				forgotten = append(forgotten, v.Plan.Steps[i].Address)
			}
			again := a.ToRun(args[0])
			if downstream { // the target alone does not need them
				again = a.ToRun()
			}
			return a.print(map[string]any{"forgotten": forgotten}, func(w io.Writer) {
				for _, s := range forgotten {
					view.Println(w, s)
				}
				view.Printf(w, "%s forgotten; `%s` makes them again.\n", view.Count(len(forgotten), "result"), again)
			})
		},
	}
	a.pipelineFlags(cmd)
	a.fromFlags(cmd)
	cmd.Flags().BoolVar(&downstream, "downstream", false, "also forget the results of all steps that depend on it")
	return cmd
}

// previewAround previews the whole pipeline, after checking that a target names something in
// it.
func (a *app) previewAround(ctx context.Context, target string) (session.Seen, error) {
	p, err := a.Load(ctx)
	if err != nil {
		return session.Seen{}, err
	}
	if _, err := plan.Build(a.File, p, a.Registry, []string{target}); err != nil {
		return session.Seen{}, a.TargetError(err)
	}
	return a.PreviewTargets(ctx, p, nil, session.Everything)
}

// selected marks the steps that a target names and, with downstream, all that depend on them.
// A plan's steps follow their inputs.
func selected(p *plan.Plan, target string, downstream bool) []bool {
	chosen := make([]bool, len(p.Steps))
	for i, s := range p.Steps {
		chosen[i] = plan.Matches(target, s.Address)
		for _, d := range s.Deps {
			chosen[i] = chosen[i] || downstream && chosen[d]
		}
	}
	return chosen
}

// forget removes the result records of a step and of its parts.
func (a *app) forget(ctx context.Context, store artifacts.Store, v *plan.Preview, i int) error {
	keys := []artifacts.Digest{v.Items[i].Key}
	acts := a.Activities(store, nil, workflows.Features{})
	parts, err := acts.PartKeys(ctx, v.Items[i].Key, v.Items[i].Task)
	if err != nil {
		return err
	}
	for _, k := range append(keys, parts...) {
		if err := artifacts.DropResult(ctx, store, k); err != nil && !errors.Is(err, artifacts.ErrNotExist) {
			return err
		}
	}
	return nil
}
