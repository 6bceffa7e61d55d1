package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

func newCancelCmd(a *app) *cobra.Command {
	var o drive.Cluster
	var all bool
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "cancel [RUN...] [STEP...]",
		Short: "Cancel open runs and wait for them to end; finished results are kept",
		Long: `The next run continues from the finished results.

RUN is the id that ` + "`redsi status`" + ` prints, or its beginning; without it, the open run that began
last. cancel looks where status looks: at the cluster that was named, else at the server of the
state folder. A running step stops at its checkpoint; another run that waits for the step goes on
from there.

With STEP, an address such as step.train.dsi or step.train.dsi["tiny"], the run goes on: only that
step, or each step of the block, is cancelled, with what needs it.`,
		Example: `  redsi cancel
  redsi cancel 20261121T1625 --wait 5m
  redsi cancel 20261121T1625 'step.train.dsi["tiny/42"]'
  redsi cancel --all --temporal-address 127.0.0.1:7233`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			at := slices.IndexFunc(args, func(arg string) bool { return strings.Contains(arg, ".") }) // no id of a run has one
			switch {
			case at >= 0 && (all || at > 1):
				return fault.Input(errors.New("steps are cancelled of one run: give its id, or none for the one that began last, and then the steps"))
			case at >= 0:
				id, steps, err := a.CancelSteps(ctx, o, append(args[:at:at], "last")[0], args[at:])
				return a.printed(map[string]any{"run": id, "cancelled": steps}, err, func(w io.Writer) {
					view.Printf(w, "run %s goes on without %s, and what needs it\n", id, words.And(steps, namesShown))
				})
			case wait < 0:
				return fault.Input(errors.New("--wait cannot be negative"))
			case all && len(args) > 0:
				return fault.Input(errors.New("give either --all or the names of runs"))
			case !all && len(args) == 0:
				args = []string{"last"}
			}
			out, err := a.Cancel(ctx, o, args, wait) // without names, all
			if err := a.printed(out, err, func(w io.Writer) { view.Cancelled(w, out) }); err != nil {
				return err
			}
			if open := lists.Count(out, func(x drive.CancelledRun) bool { return x.End == drive.Open }); open > 0 && wait > 0 {
				return fault.Failed(fmt.Errorf("%s %s not ended after %s, but the server keeps the request; to see how far it is: %s", view.Count(open, "run"), words.Of(open, "has", "have"), view.Seconds(wait), a.hint("status")))
			}
			return nil
		},
	}
	clusterFlags(cmd, &o)
	cmd.Flags().BoolVar(&all, "all", false, "cancel all open runs")
	cmd.Flags().DurationVar(&wait, "wait", time.Minute, "how long to wait for the runs to end; 0: do not wait")
	return cmd
}
