package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
)

func newStatusCmd(a *app) *cobra.Command {
	var cluster drive.Cluster
	var run string
	var last int
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show open runs, how far their steps are, and how the last run ended",
		Long: `Looks at the cluster that the flags, the environment or a profile name, else at the server that a
` + "`redsi run`" + ` or ` + "`redsi dev`" + ` with this state folder has started, if it is running. It starts nothing.
A run that does not answer within a second is shown as such. With a slurm block in redsi.local.hcl,
the jobs that redsi run --slurm has submitted are shown. For each run the first running and failed
steps are shown; --run shows all.`,
		Example: `  redsi status
  redsi status --last 20
  redsi status --run last
  redsi status --temporal-address 127.0.0.1:7233 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if last < 0 {
				return fault.Input(errors.New("--last cannot be negative"))
			}
			r, err := a.status(cmd.Context(), cluster, run, last)
			return a.printed(r, err, func(w io.Writer) { view.Status(w, a.style(w), r, last > 0, run != "", a.hint) })
		},
	}
	clusterFlags(cmd, &cluster)
	f := cmd.Flags()
	f.StringVar(&run, "run", "", "show only this run, open or ended, in full: its id, or the beginning of it")
	f.IntVar(&last, "last", 1, "show this many of the newest ended runs")
	return cmd
}

// status reports one run, or the open runs and the last ended ones.
func (a *app) status(ctx context.Context, cluster drive.Cluster, run string, last int) (r drive.Report, err error) {
	r.Running = []drive.Run{}
	store, err := a.OpenOwn(ctx)
	if err != nil {
		return r, err
	}
	conn, err := a.Running(ctx, cluster, &r)
	if err != nil {
		return r, err
	}
	if conn != nil {
		defer conn.Close()
	}
	if run != "" {
		return r, a.StatusOfOne(ctx, store.Own, conn, run, &r)
	}
	r.Pilots = a.pilotsNow(ctx)
	if r.Ended, err = a.EndedRuns(ctx, store.Own, last); err != nil {
		return r, err
	}
	if conn != nil {
		err = a.OpenRuns(ctx, conn, &r)
	}
	return r, err
}
