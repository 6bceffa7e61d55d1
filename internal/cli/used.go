package cli

import (
	"bufio"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

func newUsedCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "used [STEP]",
		Short: "List the resources that steps used: CPU time, memory, bytes, cards, energy",
		Long: `Lists the resources that steps with results used on their machines, including parts,
and the sum. What a machine did not report is left out, and results of releases that
did not measure have none: the sum says how many steps each figure covers. Memory of a
step inside redsi is how much the process grew, known only if no other step ran at the
same time; energy is the whole machine's while the step ran.`,
		Example: `  redsi artifacts used
  redsi artifacts used step.dedup.nq --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Targets = args
			ctx := cmd.Context()
			pl, _, err := a.loadPlan(ctx)
			if err != nil {
				return err
			}
			store, err := a.openStore(ctx)
			if err != nil {
				return err
			}
			type line struct {
				Address string          `json:"address"`
				TookS   float64         `json:"took_s"`
				Used    *artifacts.Used `json:"used,omitempty"` // nil: not measured
			}
			of := make([]*line, len(pl.Steps))
			var sum usage.Sum
			_, err = a.previewOf(ctx, store, pl, func(i int, it *plan.Item) bool {
				address := pl.Steps[i].Address
				if len(args) > 0 && !plan.Matches(args[0], address) {
					return false
				}
				of[i] = &line{address, it.Took.Seconds(), it.Result.Used}
				sum.Add(it.Took, it.Result.Used)
				return false
			})
			if err != nil {
				return err
			}
			lines := make([]line, 0, sum.Steps)
			for _, l := range of {
				if l != nil {
					lines = append(lines, *l)
				}
			}
			if a.JSON {
				return view.WriteJSON(a.Out, map[string]any{"steps": lines, "sum": sum})
			}
			out := bufio.NewWriter(a.Out)
			for _, l := range lines {
				view.Printf(out, "%s  took %s\n", l.Address, view.Seconds(seconds(l.TookS)))
				view.Rows(out, usage.Rows(l.Used), "not measured")
			}
			view.Printf(out, "%s with results together\n", view.Count(sum.Steps, "step"))
			view.Rows(out, sum.Rows(), "")
			return out.Flush()
		},
	}
}
