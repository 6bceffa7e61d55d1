package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/fault"
)

func newGetCmd(a *app) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "get STEP[.OUTPUT[/FILE]]|TABLE|FIGURE|DIGEST DIR",
		Short: "Write outputs into a folder: a tree, a file, or all outputs of a step",
		Long: `Writes outputs into the folder DIR, which must be new or empty: the files of a tree,
a file under the output's name, or all outputs of a step, each under its name. DIGEST
is that of a result (its key), of a tree or of a file, and needs no pipeline.

The files are verified copies: you may change them without changing the store. They
appear together, once all are complete. With --force the folder may have files: those of
the same names are replaced, and the others stay.`,
		Example: `  redsi artifacts get step.download.text.files text
  redsi artifacts get table.dedup_counts tables --force
  redsi artifacts get sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 out`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, files, err := a.asked(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			var bytes int64
			for _, f := range files {
				bytes += f.Size
			}
			m := a.newMeter("copied", bytes)
			err = artifacts.WriteFiles(cmd.Context(), store.Blobs, files, args[1], force, m.add)
			m.close()
			var full *artifacts.NotEmptyError
			if errors.As(err, &full) {
				return fault.Input(fmt.Errorf("%w: name a new folder, or give --force to replace files of the same names", err))
			}
			if err != nil {
				return err
			}
			if a.JSON {
				return view.WriteJSON(a.Out, map[string]any{"folder": args[1], "files": files, "bytes": bytes})
			}
			view.Printf(a.Out, "%s  %s, %s\n", args[1], view.Count(len(files), "file"), view.Size(bytes))
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "write into a folder that has files, replacing those of the same names")
	return cmd
}

// asked finds the files that an argument of get means, by the names to write them under.
func (a *app) asked(ctx context.Context, arg string) (artifacts.Store, []artifacts.File, error) {
	if d, err := artifacts.ParseDigest(arg); err == nil {
		store, err := a.OpenStore(ctx)
		if err != nil {
			return store, nil, err
		}
		files, err := filesOfDigest(ctx, store, d)
		return store, files, err
	}
	address, output, file := splitOutput(arg)
	store, r, err := a.resultOf(ctx, address)
	if err != nil {
		return store, nil, err
	}
	if output == "" {
		return store, filesOfResult(address, r), nil
	}
	art, err := outputOf(address, r, output)
	if err != nil || file == "" {
		return store, filesOf(nameOfOutput(address, output), art), err
	}
	_, d, err := fileOf(store, art, file)
	if err != nil {
		return store, nil, err
	}
	i := slices.IndexFunc(art.Files, func(f artifacts.File) bool { return f.Name == file && f.Digest == d })
	if i < 0 {
		return store, nil, fault.Input(fmt.Errorf("output %s is a single file, so there is no %q in it", output, file))
	}
	return store, []artifacts.File{{Name: path.Base(file), Digest: d, Size: art.Files[i].Size}}, nil
}

// filesOf are the files of an output: of a tree, or the single file.
func filesOf(name string, art artifacts.Artifact) []artifacts.File {
	if art.Files != nil {
		return art.Files
	}
	return []artifacts.File{{Name: name, Digest: art.Digest, Size: art.Size}}
}

// filesOfResult are the files of all outputs, with trees in folders of their names.
func filesOfResult(address string, r *artifacts.Result) (files []artifacts.File) {
	for _, output := range sortedOutputs(r) {
		art := r.Outputs[output]
		for _, f := range filesOf(nameOfOutput(address, output), art) {
			if art.Files != nil {
				f.Name = output + "/" + f.Name
			}
			files = append(files, f)
		}
	}
	return files
}

// nameOfOutput is the file name of an output; for tables and figures, the one a run uses.
func nameOfOutput(address, output string) string {
	if pipeline.IsRendered(address) {
		return fileName(renderedName(address)) + "." + extension(output)
	}
	return output
}

// filesOfDigest finds a result by its key, an output or one of its files, or any blob.
func filesOfDigest(ctx context.Context, store artifacts.Store, d artifacts.Digest) ([]artifacts.File, error) {
	if r, err := artifacts.Lookup(ctx, store, d); err != nil || r != nil {
		if err != nil {
			return nil, err
		}
		return filesOfResult(r.Origin.Step, r), nil
	}
	var found []artifacts.File
	err := artifacts.EachResult(ctx, store, func(r *artifacts.Result) bool {
		for _, output := range sortedOutputs(r) {
			art := r.Outputs[output]
			if art.Digest == d {
				found = filesOf(nameOfOutput(r.Origin.Step, output), art)
				return false
			}
			for _, f := range art.Files {
				if f.Digest == d {
					found = []artifacts.File{{Name: path.Base(f.Name), Digest: d, Size: f.Size}}
					return false
				}
			}
		}
		return true
	})
	if err != nil || found != nil {
		return found, err
	}
	missing, err := store.Blobs.Missing(ctx, []artifacts.Digest{d})
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s: not found in %s", d, store.URL)
	}
	return []artifacts.File{{Name: strings.TrimPrefix(d.String(), "sha256:"), Digest: d}}, nil
}
