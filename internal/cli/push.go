package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/sharing/publish"
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

--target copies the results of a table, figure or step and of all that it needs; with --only, just its own results.
--run copies the results of a run, its record, and the logs of its failed steps, so that report, why, diff and logs
work there. Of a file that is elsewhere, at an address that the store knows, only the address is copied.

Nothing is copied twice: the same command continues an interrupted transfer. Bytes are verified on arrival, and a
result is copied only after all of its bytes. If the destination has a different result for the same key, that one
stays and is listed. Garbage collection spares what has arrived until the transfer is done.`,
		Example: example,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Other, o.Limit = args[0], limit.n
			t, err := transfer.Between(cmd.Context(), a.Session, o)
			if err != nil {
				return err
			}
			done := t.Done()
			return a.print(map[string]any{"from": t.From.URL, "to": t.To.URL, "dry_run": o.Dry, "transferred": done}, nil, func(w io.Writer) { view.Transferred(w, t, done) })
		},
	}
	cmd.Flags().StringVar(&o.Run, "run", "", "the results and the record of this `RUN`: an id, a part of one, last or last~N")
	cmd.Flags().BoolVar(&o.Only, "only", false, "with --target: without what it needs")
	limit.flag(cmd.Flags(), "limit", "10MB/s", "read no more than this in a second, such as 10MB/s (default: as fast as it goes)")
	cmd.Flags().BoolVarP(&o.Dry, "dry-run", "n", false, "say what would be copied, copy nothing")
	onlyWith(cmd, "target", "only")
	return with(cmd, a.pipelineFlags, a.targetFlag)
}

func newPublishCmd(a *app) *cobra.Command {
	var o publish.Options
	var over size
	cmd := &cobra.Command{
		Use:   "publish DIR",
		Short: "Write tables, figures and everything behind them as a folder that any web server can serve",
		Long: `The folder has the layout of a store: anyone with the pipeline can pass its address to --from, and
each step whose result is there is a HIT. It also has report.html, index.html, a page on how to use
it, and index.json, the key of each step's result. Without --target, all tables and figures are
published with what they need, and other steps that have results. Existing files are not written
anew, so an interrupted publication can be continued and extended; other files in the folder stay.

With a key (redsi key new) each result is signed, so that readers who trust the key can use the folder wherever it is
served. Run records and failures are not published. Records of results name the machines that made them.

--without-blobs-over leaves out large files that steps download: their address and digest are
published instead, and readers fetch them from there. Other large files are refused, since they have
no address; with --incomplete they are left out as well, and the steps that readers would have to
run are listed. Files of tables and figures are always published.`,
		Example: `  redsi publish public
  redsi publish public --target table.dedup_counts --without-blobs-over 100MB
  redsi publish public --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Folder, o.Targets, o.Over, o.Limit = args[0], a.Targets, over.n, over.text
			pub, err := publish.Publish(cmd.Context(), a.Session, o)
			return a.print(pub, err, func(w io.Writer) { view.Publication(w, pub, a.hint) })
		},
	}
	f := cmd.Flags()
	over.flag(f, "without-blobs-over", "100MB", "leave out files over this `SIZE` that readers can download")
	f.BoolVar(&o.Incomplete, "incomplete", false, "publish even if results are missing, or files without an address are left out")
	f.StringVar(&o.URL, "url", "", "address that the folder will have, for index.html")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would be written, write nothing")
	return with(cmd, a.pipelineFlags, a.targetFlag, a.fromFlags)
}
