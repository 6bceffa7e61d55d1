package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/words"
)

func newCancelCmd(a *app) *cobra.Command {
	var o drive.Cluster
	var all bool
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "cancel [RUN...]",
		Short: "Cancel open runs and wait for them to end; finished results are kept",
		Long: `Cancel open runs and wait for them to end; finished results are kept, and the next
run continues from there.

RUN is the id that ` + "`redsi status`" + ` prints, or the beginning of it; the default is the
open run that began last. Looks where status looks: at the cluster that was
named, else at the server of the state folder. A running step stops at its
checkpoint; another run that waits for it goes on from there.`,
		Example: `  redsi cancel
  redsi cancel 20261121T1625 --wait 5m
  redsi cancel --all --temporal-address 127.0.0.1:7233`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case wait < 0:
				return fault.Input(errors.New("--wait cannot be negative"))
			case all && len(args) > 0:
				return fault.Input(errors.New("give either --all or the names of runs"))
			case !all && len(args) == 0:
				args = []string{"last"}
			}
			return a.cancel(cmd.Context(), o, args, wait)
		},
	}
	clusterFlags(cmd, &o)
	cmd.Flags().BoolVar(&all, "all", false, "cancel all open runs")
	cmd.Flags().DurationVar(&wait, "wait", time.Minute, "how long to wait for the runs to end; 0: do not wait")
	return cmd
}

// cancel cancels the named runs; without names, all.
func (a *app) cancel(ctx context.Context, o drive.Cluster, names []string, wait time.Duration) error {
	out, err := a.Cancel(ctx, o, names, wait)
	if err != nil {
		return err
	}
	open := 0
	for _, x := range out {
		if x.End == drive.Open && wait > 0 {
			open++
		}
	}
	if err := a.print(out, func(w io.Writer) { view.Cancelled(w, out) }); err != nil {
		return err
	}
	if open > 0 {
		return fault.Failed(fmt.Errorf("%s %s not ended after %s; the server keeps the request: %s", view.Count(open, "run"), words.Of(open, "has", "have"), view.Seconds(wait), a.hint("status")))
	}
	return nil
}
