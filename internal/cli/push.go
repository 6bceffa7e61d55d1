package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/sharing/transfer"
)

func newPushCmd(a *app) *cobra.Command {
	return a.transferCmd("push DEST", "Send results to another store: those of tables, of a run, or all",
		`  redsi push s3://bucket/paper --target table.dedup_counts
  redsi push /mnt/usb/store --run last --dry-run`, true)
}

func newPullCmd(a *app) *cobra.Command {
	return a.transferCmd("pull SOURCE", "Fetch results from another store: those of tables, of a run, or all",
		`  redsi pull s3://bucket/paper --target table.dedup_counts
  redsi pull /mnt/usb/store --run 20261121T103628Z-7710bece`, false)
}

func (a *app) transferCmd(use, short, example string, push bool) *cobra.Command {
	o := transfer.Options{Push: push}
	limit := size{perSecond: true}
	_, other, _ := strings.Cut(use, " ")
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Long: other + ` is a folder, or s3://bucket/prefix?endpoint=HOST:PORT; the other store is given by --store.
Without --target or --run, all results, runs and pins are copied.

--target copies the results of a table, figure or step and of all that it needs; with --only, just
its own results. --run copies the results of a run, its record, and the logs of its failed steps, so
that report, why, diff and logs work there. Of a file that is elsewhere, at an address that the
store knows, only the address is copied.

Nothing is copied twice: the same command continues an interrupted transfer. Bytes are verified on
arrival, and a result is copied only after all of its bytes. If the destination has a different
result for the same key, that one stays and is listed. Garbage collection spares what has arrived
until the transfer is done.`,
		Example: example,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Other, o.Limit = args[0], limit.n
			t, err := transfer.Between(cmd.Context(), a.Session, o)
			if err != nil {
				return err
			}
			done := t.Done()
			return a.print(map[string]any{"from": t.From.URL, "to": t.To.URL, "dry_run": o.Dry, "transferred": done}, func(w io.Writer) { view.Transferred(w, t, done) })
		},
	}
	cmd.Flags().StringVar(&o.Run, "run", "", "the results and the record of this `RUN`: an id, a part of one, last or last~N")
	cmd.Flags().BoolVar(&o.Only, "only", false, "with --target: without what it needs")
	limit.flag(cmd.Flags(), "limit", "10MB/s", "read no more than this in a second, such as 10MB/s (default: as fast as it goes)")
	cmd.Flags().BoolVarP(&o.Dry, "dry-run", "n", false, "say what would be copied, copy nothing")
	onlyWith(cmd, "target", "only")
	return with(cmd, a.pipelineFlags, a.targetFlag)
}
