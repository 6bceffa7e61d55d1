package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/sharing/choose"
	"github.com/redsi/redsi/internal/sharing/hub"
	"github.com/redsi/redsi/internal/sharing/pack"
	"github.com/redsi/redsi/internal/sharing/publish"
	"github.com/redsi/redsi/internal/sharing/transfer"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/signature"
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

func newExportCmd(a *app) *cobra.Command {
	var folder, namespace string
	var o pack.Options
	var over, fit size
	cmd := &cobra.Command{
		Use:   "export --archive FILE.zip | --hub DIR",
		Short: "Write the pipeline and its results as one archive, or datasets and models for the Hugging Face hub",
		Long: `--archive writes one ZIP file with the pipeline, its lock file, results, their files and signatures, the
report, tables and figures, a CITATION.cff and ro-crate-metadata.json, which describes the archive by the profile
Provenance Run Crate 0.5. redsi import reads it on another machine, without network or account; plan, verify and report
then give the same output there. Equal results give the same bytes. The archive is signed if you have a signing key.

It always contains the files of tables and figures, and others as far as they fit: see --fit, --without-blobs-over and
--blobs. Files left out are listed, with the steps that a reader would have to run; for files that a download step
fetches from an https address with a checksum, the archive has the address. --deposit zenodo also writes Zenodo's
metadata next to it, from the paper block, and prints the commands that upload it.

--hub writes each output of type hub/dataset or hub/model into a folder of its own in DIR, with a
.gitattributes, verified and checked against the requirements of the hub and its libraries, and
prints the commands of the hub's program hf that upload them.`,
		Example: `  redsi export --archive paper.zip
  redsi export --archive tables.zip -t table.dedup_counts --without-blobs-over 100MB
  redsi export --archive paper.zip --deposit zenodo --doi 10.5281/zenodo.1234567
  redsi export --hub hub -t step.export.nq320k
  redsi export --hub hub --namespace my-lab`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case folder == "" && o.File == "":
				return fault.Input(errors.New("give --archive FILE.zip or --hub DIR: what to write"))
			case folder != "" && o.File != "":
				return fault.Input(errors.New("give either --archive or --hub, not both"))
			case o.File != "":
				o.Choice.Over, o.Choice.Fit = over.n, fit.n
				x, err := pack.Export(cmd.Context(), a.Session, o)
				return a.print(x, err, func(w io.Writer) { view.Exported(w, x, a.ToRun(address.Blocks(x.Missing)...)) })
			}
			list, err := hub.Export(cmd.Context(), a.Session, folder, namespace)
			return a.print(list, err, func(w io.Writer) { view.Repositories(w, list) })
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

func newImportCmd(a *app) *cobra.Command {
	var dir, untrusted string
	var trust []string
	var most size
	cmd := &cobra.Command{
		Use:   "import FILE.zip",
		Short: "Read an archive written by redsi export --archive: pipeline and results, verified, without network",
		Long: `The pipeline goes into a new folder, and its results into the store of that folder. Nothing runs, and no
network is used. In that folder, plan, verify and report then give the same output as where the archive was made.

An archive is not trusted. Its names, links and sizes are checked before anything is written; files
are verified by their SHA-256 and results by their seals. The folder appears once it is complete,
and contains only what came from the archive, so it does not matter who signed that. Its pipeline is
code: read it before you plan or run it. With --store the results go into that store instead. If it
has results already, the archive's could be taken for yours, so the archive, or each result, must be
signed by your own key or one given with --trust; --untrusted use accepts them unsigned.`,
		Example: `  redsi import paper.zip
  redsi import paper.zip --dir their-paper --trust alice:uyk2NrRFxtvaD6OAknF6Df5l3xlYwSLHLoYBkRsQHVo=
  redsi import paper.zip --store /data/store --untrusted use`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if untrusted != "" && untrusted != string(artifacts.UseUntrusted) {
				return fault.Input(fmt.Errorf("--untrusted %s: want use; without it, such results are not accepted", untrusted))
			}
			// Trusted are the person's own key, and the keys that they name. What an archive says does not matter.
			trusted, err := session.ParseTrust(trust)
			if err != nil {
				return err
			}
			own, err := a.Signer()
			if err != nil {
				return err
			}
			if own != nil {
				trusted = append(trusted, own.Public())
			}
			in := pack.Incoming{File: args[0], Folder: dir, Most: most.n, Ring: signature.Ring{Trusted: trusted}, Unsigned: untrusted != "",
				Reading: func() func() { return a.Waiting("reading the archive") },
				Meter:   func(total int64) (func(int64), func()) { return a.Copying("imported", total) }}
			if !a.unset("store", "REDSI_STORE") || !a.unset("state", "REDSI_STATE") || a.Local.Flags["store"] || a.Local.Flags["state"] {
				in.Store = a.OpenOwn
			}
			x, err := pack.Import(cmd.Context(), in)
			if err != nil {
				return err
			}
			var failed error
			if n := len(x.Damaged); n > 0 {
				failed = fault.Failed(fmt.Errorf("%s of the archive cannot be used, such as %s", view.Count(n, "result"), x.Damaged[0]))
			}
			return errors.Join(a.print(x, nil, func(w io.Writer) { view.Imported(w, x, a.hint) }), failed)
		},
	}
	f := cmd.Flags()
	f.StringVar(&dir, "dir", "", "folder to make (default: the file's name without .zip)")
	most.flag(f, "max-size", "300GB", "largest unpacked size to accept (default: a hundred times the archive's size, plus 1 GiB)")
	f.StringArrayVar(&trust, "trust", nil, "trust this public `KEY`; may be repeated")
	f.StringVar(&untrusted, "untrusted", "", "use: accept results that no trusted key signed into a store that has other results")
	return cmd
}
