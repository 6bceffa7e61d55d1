package cli

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/sharing/choose"
	"github.com/redsi/redsi/internal/sharing/hub"
	"github.com/redsi/redsi/internal/sharing/pack"
	"github.com/redsi/redsi/internal/system/fault"
)

func newExportCmd(a *app) *cobra.Command {
	var folder, namespace string
	var o pack.Options
	var over, fit size
	cmd := &cobra.Command{
		Use:   "export --archive FILE.zip | --hub DIR",
		Short: "Write the pipeline and its results as one archive, or datasets and models for the Hugging Face hub",
		Long: `--archive writes one ZIP file with the pipeline, its lock file, results, their files and signatures,
the report, tables and figures, a CITATION.cff and ro-crate-metadata.json, which describes the
archive by the profile Provenance Run Crate 0.5. redsi import reads it on another machine, without
network or account; plan, verify and report then give the same output there. Equal results give the
same bytes. The archive is signed if you have a signing key.

It always contains the files of tables and figures, and others as far as they fit: see --fit,
--without-blobs-over and --blobs. Files left out are listed, with the steps that a reader would have
to run; for files that a download step fetches from an https address with a checksum, the archive
has the address. --deposit zenodo also writes Zenodo's metadata next to it, from the paper block,
and prints the commands that upload it.

--hub writes each output of type hub/dataset or hub/model into a folder of its own in DIR, with a
.gitattributes, verified and checked against the requirements of the hub and its libraries, and
prints the commands of the hub's program hf that upload them.`,
		Example: `  redsi export --archive paper.zip
  redsi export --archive tables.zip -t table.dedup_counts --without-blobs-over 100MB
  redsi export --archive paper.zip --deposit zenodo --doi 10.5281/zenodo.1234567
  redsi export --hub hub -t step.export.nq320k
  redsi export --hub hub --namespace my-lab`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case folder == "" && o.File == "":
				return fault.Input(errors.New("give --archive FILE.zip or --hub DIR: what to write"))
			case folder != "" && o.File != "":
				return fault.Input(errors.New("give either --archive or --hub, not both"))
			case o.File != "":
				o.Choice.Over, o.Choice.Fit = over.n, fit.n
				x, err := pack.Export(cmd.Context(), a.Session, o)
				if err != nil {
					return err
				}
				return a.print(x, func(w io.Writer) { view.Exported(w, x, a.ToRun(address.Blocks(x.Missing)...)) })
			}
			list, err := hub.Export(cmd.Context(), a.Session, folder, namespace)
			return a.printed(list, err, func(w io.Writer) { view.Repositories(w, list) })
		},
	}
	cmd.Flags().StringVar(&folder, "hub", "", "`DIR` for the repositories, one folder each")
	cmd.Flags().StringVar(&namespace, "namespace", "", "user or organization on the hub that the printed commands upload to")
	f := cmd.Flags()
	f.StringVar(&o.File, "archive", "", "ZIP `FILE` to write")
	f.StringVar(&o.Choice.Which, "blobs", choose.All, "with --archive: all, tables (only those of tables and figures) or none")
	over.flag(f, "without-blobs-over", "100MB", "with --archive: leave out files larger than this, such as 100MB, except those of tables and figures")
	fit.n, fit.text = 50e9, "50GB"
	fit.flag(f, "fit", "100MB", "with --archive: leave out the largest files until the rest fits into this size")
	f.StringVar(&o.DOI, "doi", "", "with --archive: reserved `DOI`, for CITATION.cff and the deposit")
	f.StringVar(&o.Deposit, "deposit", "", "with --archive: also write metadata for this repository: zenodo")
	onlyWith(cmd, "archive", "blobs", "without-blobs-over", "fit", "doi", "deposit")
	onlyWith(cmd, "hub", "namespace")
	return with(cmd, a.pipelineFlags, a.fromFlags, a.targetFlag)
}
