package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/why"
	"github.com/redsi/redsi/internal/system/fault"
)

func newWhyCmd(a *app) *cobra.Command {
	run := ""
	cmd := &cobra.Command{
		Use:   "why STEP|TABLE",
		Short: "Explain why a step is a hit, must run or ran: what changed since its newest result, with file and line",
		Long: `For a hit it says which run made the result, and from what. With --run it explains why the step ran
in that run, or did not: what had changed since the last run before it with a result.`,
		Example: `  redsi why table.dedup_counts
  redsi why 'step.dedup.nq["url"]'
  redsi why 'step.dedup.nq["url"]' --run last`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if run != "" {
				return a.whyRan(cmd.Context(), args[0], run)
			}
			answers, store, err := why.OfTarget(cmd.Context(), a.Session, args[0])
			if err := a.print(answers, err, func(w io.Writer) { view.Why(w, a.style(w), answers, a.hint) }); err != nil {
				return err
			}
			return a.SayDown(store, "it may have the result")
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "explain this ended run: its id, a part of it, last or last~1")
	return with(cmd, a.pipelineFlags, a.fromFlags)
}

// whyRan answers for a run that has ended, without reading the pipeline.
func (a *app) whyRan(ctx context.Context, target, name string) error {
	a.ReadResults(ctx)
	store, err := a.OpenStore(ctx)
	if err != nil {
		return err
	}
	rec, err := a.FindRun(ctx, store.Own, name)
	if err != nil {
		return err
	}
	answers, err := why.Ran(ctx, store, rec, a.Differ(ctx, store), func(address string) bool { return plan.Matches(target, address) })
	if err == nil && len(answers) == 0 {
		err = fault.Input(fmt.Errorf("run %s has no step %s; it had %s", rec.RunID, target, view.Count(len(rec.Steps), "step")))
	}
	return a.print(answers, err, func(w io.Writer) { view.WhyRan(w, a.style(w), answers) })
}

func newTraceCmd(a *app) *cobra.Command {
	return with(&cobra.Command{
		Use:   "trace TABLE[:ROW.COLUMN] | STEP",
		Short: "Trace one number, or a step, to the artifacts, steps, keys and sources that it comes from",
		Long: `A number is traced to the JSON field, artifact, steps, keys and sources that it comes from. For a
table or figure the names of the cells are listed. For a step trace shows how it ran (key, run,
notes, what isolation found), its inputs and outputs, and the same for each step before it.`,
		Example: `  redsi trace table.dedup_counts
  redsi trace table.dedup_counts:url.train
  redsi trace figure.model_scaling:atomic.tiny.y --json
  redsi trace step.train.dsi`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			item, _, isCell := address.Cell(args[0])
			step := slices.Contains([]string{"source", "step"}, address.Of(args[0]).Type()) // which has no cells
			if step {
				item = args[0]
			}
			a.Targets = []string{item}
			v, err := a.Preview(cmd.Context(), session.Everything)
			if err != nil {
				return err
			}
			if !step && !isCell {
				l, err := report.Cells(cmd.Context(), v.Preview, v.Store.Open, item)
				return a.print(l, a.untraced(err, item), func(w io.Writer) { view.Cells(w, l, item, a.hint) })
			}
			t, err := a.trace(cmd.Context(), v, args[0], step)
			return a.print(t, a.untraced(err, item), func(w io.Writer) {
				if step {
					view.TracedSteps(w, t.Steps)
				} else {
					view.Trace(w, t)
				}
			})
		},
	}, a.pipelineFlags, a.fromFlags)
}

// trace traces a step, or a cell with the fields that it was read from.
func (a *app) trace(ctx context.Context, v session.Seen, name string, step bool) (t *report.Trace, err error) {
	if step {
		t, err = report.TraceStep(v.Preview, name)
	} else if t, err = report.TraceCell(ctx, v.Preview, v.Pipeline.Claims, v.Store.Open, name); err == nil {
		err = t.ReadFields(v.Preview, a.Registry)
	}
	if err != nil {
		return nil, err
	}
	if err := t.ReadPackages(ctx, v.Store.Open); err != nil {
		return nil, err
	}
	book, err := a.Book(ctx, v.Store.Own)
	if err != nil {
		return nil, err
	}
	return t, report.Attested(ctx, book, t.Steps)
}

// untraced adds a hint to an error.
func (a *app) untraced(err error, address string) error {
	if _, ok := errors.AsType[*report.NotRunError](err); ok {
		return fmt.Errorf("%w: %s", err, a.hint("run", "--target", address))
	}
	if unknown, ok := errors.AsType[*report.UnknownCell](err); ok {
		if unknown.Name != address {
			err = fmt.Errorf("%w; `%s` lists its cells", err, a.hint("trace", address))
		}
		return fault.Input(err)
	}
	return err
}
