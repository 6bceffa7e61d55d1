package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/fault"
	"github.com/redsi/redsi/internal/sharing/archive"
	"github.com/redsi/redsi/internal/sharing/hub"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/step"
)

// exported is one exported repository.
type exported struct {
	Address string   `json:"address"`
	Kind    hub.Kind `json:"kind"`
	Name    string   `json:"name"`
	Folder  string   `json:"folder"`
	Files   int      `json:"files"`
	Bytes   int64    `json:"bytes"`
	Upload  string   `json:"upload"` // the command that uploads it
	Done    bool     `json:"done"`   // it was uploaded

	command []string
}

func newExportCmd(a *app) *cobra.Command {
	var folder, namespace string
	var o archiveOptions
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
libraries. With --namespace, and a token where the hub's program hf looks for one, hf uploads
them; otherwise the upload commands are printed.`,
		Example: `  redsi export --archive paper.zip
  redsi export --archive tables.zip -t table.dedup_counts --without-blobs-over 100MB
  redsi export --archive paper.zip --deposit zenodo --doi 10.5281/zenodo.1234567
  redsi export --hub hub -t step.export.nq320k
  redsi export --hub hub --namespace my-lab`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case folder == "" && o.file == "":
				return fault.Input(errors.New("give --archive FILE.zip or --hub DIR: what to write"))
			case folder != "" && o.file != "":
				return fault.Input(errors.New("give either --archive or --hub, not both"))
			case o.file != "":
				return a.exportTo(cmd, o)
			}
			for _, flag := range archiveFlags {
				if cmd.Flags().Changed(flag) {
					return fault.Input(fmt.Errorf("--%s is for --archive", flag))
				}
			}
			list, err := a.exportHub(cmd.Context(), folder, namespace)
			if err != nil {
				return err
			}
			return a.sayExported(list, namespace)
		},
	}
	a.pipelineFlags(cmd)
	a.fromFlags(cmd)
	a.targetFlag(cmd)
	cmd.Flags().StringVar(&folder, "hub", "", "`DIR` for the repositories, one folder each")
	cmd.Flags().StringVar(&namespace, "namespace", "", "user or organization on the hub to upload to")
	f := cmd.Flags()
	f.StringVar(&o.file, "archive", "", "ZIP `FILE` to write")
	f.StringVar(&o.blobs, "blobs", archive.All, "with --archive: all, tables (only those of tables and figures) or none")
	f.StringVar(&o.over, "without-blobs-over", "", "with --archive: leave out files larger than this, such as 100MB, except those of tables and figures")
	f.StringVar(&o.fit, "fit", "50GB", "with --archive: leave out the largest files until the rest fits into this size")
	f.StringVar(&o.doi, "doi", "", "with --archive: reserved `DOI`, for CITATION.cff and the deposit")
	f.StringVar(&o.deposit, "deposit", "", "with --archive: also write metadata for this repository: zenodo")
	return cmd
}

// archiveFlags can be used only with --archive.
var archiveFlags = []string{"blobs", "without-blobs-over", "fit", "doi", "deposit"}

// exportHub writes the repositories and, where it can, uploads them.
func (a *app) exportHub(ctx context.Context, folder, namespace string) ([]exported, error) {
	v, store, err := a.previewFor(ctx, func(_ int, it *plan.Item) bool { return a.makesRepository(it.Task.Kind) })
	if err != nil {
		return nil, err
	}
	var list []exported
	var missing []string
	folders := map[string]string{}
	for i, s := range v.Plan.Steps {
		if !a.makesRepository(s.Task.Kind) {
			continue
		}
		result := v.Items[i].Result
		if result == nil {
			missing = append(missing, s.Address)
			continue
		}
		for _, output := range sortedOutputs(result) {
			kind, ok := hub.KindOf(result.Outputs[output].Type)
			if !ok {
				continue
			}
			e := exported{Address: s.Address, Kind: kind, Name: repositoryName(s.Address)}
			e.Folder = filepath.Join(folder, e.Name)
			if other, taken := folders[e.Name]; taken {
				return nil, fault.Input(fmt.Errorf("%s and %s would both be written to %s: export one of them with --target", other, s.Address, e.Folder))
			}
			folders[e.Name] = s.Address
			if err := a.writeRepository(ctx, store, &e, result.Outputs[output]); err != nil {
				return nil, fmt.Errorf("%s: %w", s.Address, err)
			}
			list = append(list, e)
		}
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
	for i := range list {
		e := &list[i]
		e.command = hub.Command(e.Kind, cmp.Or(namespace, "NAMESPACE"), e.Name, e.Folder)
		e.Upload = shellLine(e.command)
		if namespace == "" || !hub.HasToken() {
			continue
		}
		switch err := hub.Upload(ctx, e.command); {
		case errors.Is(err, hub.ErrNoProgram):
			a.say(err.Error())
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("%s was written but not uploaded: %w", e.Folder, err)
		}
		e.Done = true
	}
	return list, nil
}

// makesRepository reports whether a kind's outputs are repositories.
func (a *app) makesRepository(kind string) bool {
	spec := a.Registry.Lookup(kind)
	return spec != nil && slices.ContainsFunc(spec.Outputs, func(o step.Output) bool { _, ok := hub.KindOf(o.Type); return ok })
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._]+`)

// repositoryName is an address without its kind, in characters that the hub allows:
// nq320k-title-html_norm for step.export.nq320k["title/html_norm"].
func repositoryName(address string) string {
	module, local := pipeline.SplitAddress(address)
	parts := strings.SplitN(local, ".", 3)
	return strings.Trim(notInNames.ReplaceAllString(strings.TrimPrefix(module, "module.")+"-"+parts[len(parts)-1], "-"), "-.")
}

// writeRepository writes a tree into its folder, replacing files of an earlier export.
func (a *app) writeRepository(ctx context.Context, store artifacts.Store, e *exported, tree artifacts.Artifact) error {
	var files []hub.File
	var card []byte
	for _, f := range tree.Files {
		files = append(files, hub.File{Name: f.Name, Size: f.Size})
		e.Bytes += f.Size
	}
	e.Files = len(files)
	if f, ok := tree.File(hub.Card); ok {
		var err error
		if card, err = readBlob(ctx, store, f.Digest); err != nil {
			return err
		}
	}
	if err := hub.Check(e.Kind, card, files); err != nil {
		return err
	}
	if err := a.leftOver(e, tree); err != nil {
		return err
	}
	if err := atomicfile.WriteFile(filepath.Join(e.Folder, ".gitattributes"), hub.Attributes(files), 0o644); err != nil {
		return err
	}
	for _, f := range tree.Files {
		if err := materialize(ctx, store, f.Digest, f.Size, filepath.Join(e.Folder, filepath.FromSlash(f.Name))); err != nil {
			return err
		}
	}
	return nil
}

// leftOver refuses a folder with other files, such as those of an earlier export: they would
// be uploaded too.
func (a *app) leftOver(e *exported, tree artifacts.Artifact) error {
	return filepath.WalkDir(e.Folder, func(path string, d os.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == e.Folder:
			return nil
		case err == nil && d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case err != nil || d.IsDir():
			return err
		}
		name, err := filepath.Rel(e.Folder, path)
		if err != nil {
			return err
		}
		if _, ok := tree.File(filepath.ToSlash(name)); !ok && name != ".gitattributes" {
			return fault.Input(fmt.Errorf("%s does not belong to %s: remove it, or give another --hub", path, e.Address))
		}
		return nil
	})
}

func (a *app) sayExported(list []exported, namespace string) error {
	if a.JSON {
		return view.WriteJSON(a.Out, list)
	}
	var commands []string
	for _, e := range list {
		done := ""
		if e.Done {
			done = ", uploaded"
		} else {
			commands = append(commands, e.Upload)
		}
		view.Printf(a.Out, "%s  %s, %s, %s%s\n", e.Folder, e.Kind, view.Count(e.Files, "file"), view.Size(e.Bytes), done)
	}
	if len(commands) == 0 {
		return nil
	}
	why := "no token found; see hf auth login"
	switch {
	case namespace == "":
		why = "with --namespace they are uploaded right away"
	case hub.HasToken():
		why = "the program hf is missing"
	}
	view.Printf(a.Out, "to upload (%s):\n", why)
	for _, c := range commands {
		view.Printf(a.Out, "  %s\n", c)
	}
	return nil
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
