package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/sharing/choose"
	"github.com/redsi/redsi/internal/sharing/pack"
	"github.com/redsi/redsi/internal/sharing/repositories"
	"github.com/redsi/redsi/internal/system/fault"
)

func newExportCmd(a *app) *cobra.Command {
	var folder, namespace string
	var o pack.Options
	var over, fit size
	cmd := &cobra.Command{
		Use:   "export --archive FILE.zip | --hub DIR",
		Short: "Write the pipeline and its results as one archive, or datasets and models for the Hugging Face hub",
		Long: `--archive writes one ZIP file with the pipeline, its lock file, results, their files and
signatures, the report, tables and figures, a CITATION.cff and ro-crate-metadata.json, which
describes the archive by the profile Provenance Run Crate 0.5. redsi import reads it on another
machine, without network or account; plan, verify and report then give the same output there.
Equal results give the same bytes. The archive is signed if you have a signing key.

It always contains the files of tables and figures, and others as far as they fit: see --fit,
--without-blobs-over and --blobs. Files left out are listed, with the steps that a reader
would have to run; for those that a download step fetches from an https address with a
checksum, the archive has the address. --deposit zenodo also writes Zenodo's metadata next to
it, from the paper block, and prints the commands that upload it.

--hub writes each output of type hub/dataset or hub/model into a folder of its own in DIR,
with a .gitattributes, verified and checked against the requirements of the hub and its
libraries, and prints the commands of the hub's program hf that upload them.`,
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
				x, err := a.exportArchive(cmd.Context(), o)
				if err != nil {
					return err
				}
				if a.JSON {
					return view.WriteJSON(a.Out, x)
				}
				view.Exported(a.Out, x, a.hint("run", targets(x.Missing)...))
				return nil
			}
			list, err := a.exportHub(cmd.Context(), folder, namespace)
			if err != nil {
				return err
			}
			if a.JSON {
				return view.WriteJSON(a.Out, list)
			}
			view.Repositories(a.Out, list)
			return nil
		},
	}
	a.pipelineFlags(cmd)
	a.fromFlags(cmd)
	a.targetFlag(cmd)
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
	return cmd
}

// exportArchive writes the pipeline and its results as an archive.
func (a *app) exportArchive(ctx context.Context, o pack.Options) (*pack.Exported, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	pl, p, err := a.LoadPlan(ctx)
	if err != nil {
		return nil, err
	}
	store, err := a.OpenStore(ctx)
	if err != nil {
		return nil, err
	}
	x, err := pack.New(pack.Source{Store: store, Pipeline: p, Plan: pl, Targets: a.Targets, NameOf: nameOfOutput,
		File: a.File, Folder: session.ProjectDir(a.File), Checkouts: filepath.Join(a.StateDir, "modules")}, o)
	if err != nil {
		return nil, err
	}
	g, err := a.gather(ctx, store, pl)
	if err != nil {
		return nil, err
	}
	v, err := a.PreviewOf(ctx, store, pl, func(i int, it *plan.Item) bool {
		x.Note(i, it)
		return g.Keep(i, it)
	})
	if err != nil {
		return nil, err
	}
	if err := a.SayDown(store, session.MayHave(v, nil)); err != nil {
		return nil, err
	}
	// Results from other stores are copied unchanged, with their signatures.
	if err := a.Bring(ctx, store, v, func(int) bool { return true }); err != nil {
		return nil, err
	}
	if err := x.Choose(ctx); errors.Is(err, pack.ErrNothing) {
		return nil, fault.Input(fmt.Errorf("%w: %s", err, a.hint("run", targetArgs(a.Targets)...)))
	} else if err != nil {
		return nil, err
	}
	r, err := g.Build(ctx, v, store.Blobs.Open, report.Options{Store: store.URL, Paper: p.Paper, Claims: p.Claims, Command: x.Hint})
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := r.HTML(&page); err != nil {
		return nil, err
	}
	by, err := a.Signer()
	if err != nil {
		return nil, err
	}
	m := a.newMeter("written", 0)
	defer m.close()
	return x.Write(ctx, page.Bytes(), by, m.add)
}

// exportHub writes the repositories, and says which steps have no result for theirs.
func (a *app) exportHub(ctx context.Context, folder, namespace string) ([]repositories.Repository, error) {
	v, store, err := a.PreviewFor(ctx, func(_ int, it *plan.Item) bool { return repositories.Makes(a.Registry.Lookup(it.Task.Kind)) })
	if err != nil {
		return nil, err
	}
	list, missing, err := repositories.Write(ctx, store, v, a.Registry, folder, namespace)
	if err != nil {
		return nil, err
	}
	if n := len(missing); n > 0 {
		text := missing[0] + " has no result yet, so it is left out"
		if n > 1 {
			text = fmt.Sprintf("%d steps have no result yet, so they are left out", n)
		}
		a.say(text + ": " + a.hint("run", targets(missing)...))
	}
	if len(list) == 0 {
		return nil, fault.Input(errors.New("no step has a dataset or model for the hub: steps of the kinds export and export_model make them"))
	}
	return list, nil
}

// targets are the flags of a run that makes these steps; for several steps, their blocks.
func targets(addresses []string) []string {
	if len(addresses) == 1 {
		return targetArgs(addresses)
	}
	var blocks []string
	for _, address := range addresses {
		if block := pipeline.BlockOf(address); !slices.Contains(blocks, block) {
			blocks = append(blocks, block)
		}
	}
	return targetArgs(blocks)
}
