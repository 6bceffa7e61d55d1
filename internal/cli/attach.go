package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
)

func newAttachCmd(a *app) *cobra.Command {
	var o drive.Cluster
	cmd := &cobra.Command{
		Use:   "attach [RUN]",
		Short: "Follow an open run, as `redsi run` shows it; Ctrl-C leaves it running",
		Long: `RUN is the id that ` + "`redsi status`" + ` prints, or its beginning; without it, the open run that began
last. attach looks where status looks: at the cluster that was named, else at the server of the
state folder. It exits with 0 if the run succeeded, and with 1 if the run failed or was left
running.`,
		Example: `  redsi attach
  redsi attach 20261121T1625
  redsi attach --temporal-address 127.0.0.1:7233`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			conn, open, err := a.OpenRunsNamed(ctx, o, []string{first(args)})
			if err != nil {
				return err
			}
			defer conn.Close()
			run := open[0]
			a.begun(run.RunID, run.URL)
			res, err := a.Follow(ctx, conn, conn.Client.GetWorkflow(ctx, run.Workflow, ""), true)
			if errors.Is(err, drive.ErrDetached) {
				return fault.Failed(fmt.Errorf("detached: run %s continues\n`%s` follows it again, `%s` cancels it", run.RunID, a.hint("attach", run.RunID), a.hint("cancel", run.RunID)))
			}
			if err != nil {
				return a.Ended(err, run.RunID, "the command that started it continues from the results in the store", false) // with its own targets
			}
			return a.print(res, func(w io.Writer) { view.Printf(w, "run %s has ended: %d hit, %d ran.\n", res.RunID, res.Hit, res.Ran) })
		},
	}
	clusterFlags(cmd, &o)
	return with(cmd, a.progressFlag)
}

// first is the first word; "" if there is none.
func first(words []string) string {
	return append(words, "")[0]
}
