package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/plan"
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
			if err := a.printed(answers, err, func(w io.Writer) { view.Why(w, a.style(w), answers, a.hint) }); err != nil {
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
	if err != nil {
		return err
	}
	if len(answers) == 0 {
		return fault.Input(fmt.Errorf("run %s has no step %s; it had %s", rec.RunID, target, view.Count(len(rec.Steps), "step")))
	}
	return a.print(answers, func(w io.Writer) { view.WhyRan(w, a.style(w), answers) })
}
