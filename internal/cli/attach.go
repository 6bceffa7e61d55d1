package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
)

// errDetached says that following a run has ended while the run goes on.
var errDetached = errors.New("detached")

func newAttachCmd(a *app) *cobra.Command {
	var o drive.Cluster
	cmd := &cobra.Command{
		Use:   "attach [RUN]",
		Short: "Follow an open run, as `redsi run` shows it; Ctrl-C leaves it running",
		Long: `Follow an open run, as ` + "`redsi run`" + ` shows it; Ctrl-C leaves it running.

RUN is the id that ` + "`redsi status`" + ` prints, or the beginning of it; the default is the
open run that began last. Looks where status looks: at the cluster that was
named, else at the server of the state folder. Exits with 0 if the run succeeded,
with 1 if not, or if it was left running.`,
		Example: `  redsi attach
  redsi attach 20261121T1625
  redsi attach --temporal-address 127.0.0.1:7233`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.attach(cmd.Context(), o, first(args)) },
	}
	clusterFlags(cmd, &o)
	return cmd
}

func (a *app) attach(ctx context.Context, o drive.Cluster, name string) error {
	conn, open, err := a.OpenRunsNamed(ctx, o, []string{name})
	if err != nil {
		return err
	}
	defer conn.Close()
	run := open[0]
	view.Printf(a.Err, "run %s\nTemporal UI: %s\n", run.RunID, run.URL)
	res, err := a.follow(ctx, conn, conn.Client.GetWorkflow(ctx, run.Workflow, ""), true)
	if errors.Is(err, errDetached) {
		return fault.Failed(fmt.Errorf("detached: run %s continues\n%s follows it again, %s cancels it", run.RunID, a.hint("attach", run.RunID), a.hint("cancel", run.RunID)))
	}
	if err != nil {
		return a.ended(err, run.RunID)
	}
	if a.JSON {
		return view.WriteJSON(a.Out, res)
	}
	view.Printf(a.Out, "run %s has ended: %d hit, %d ran.\n", res.RunID, res.Hit, res.Ran)
	return nil
}

// first is the first word; "" if there is none.
func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
