package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/sharing/publish"
)

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

With a key (redsi key new) each result is signed, so that readers who trust the key can use the
folder wherever it is served. Run records and failures are not published. Records of results name
the machines that made them.

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
			return a.printed(pub, err, func(w io.Writer) { view.Publication(w, pub, a.hint) })
		},
	}
	f := cmd.Flags()
	over.flag(f, "without-blobs-over", "100MB", "leave out files over this `SIZE` that readers can download")
	f.BoolVar(&o.Incomplete, "incomplete", false, "publish even if results are missing, or files without an address are left out")
	f.StringVar(&o.URL, "url", "", "address that the folder will have, for index.html")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would be written, write nothing")
	return with(cmd, a.pipelineFlags, a.targetFlag, a.fromFlags)
}
