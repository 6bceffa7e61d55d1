package cli

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/session/fault"
)

// starters are what init writes: a folder for each.
//
//go:embed starter
var starters embed.FS

// ignored is what belongs to one machine or can be made again.
const ignored = ".redsi/\n.redsi.lock.lock\nresults/\n" + pipeline.LocalFile + "\n"

func newInitCmd(a *app) *cobra.Command {
	var nq bool
	var corpus string
	cmd := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a small, runnable study to start from",
		Long: `Write a small, runnable study to start from: a program that is run with several
seeds, a table and a figure of its numbers, expectations, and a test. With --nq it
has the first steps of the ReDSI paper on a generated corpus.

With --corpus it is a retrieval study on your own data: BM25, a dense ranking, three
types of identifiers with a model each, scores, significance and a table. The folder
has documents, queries and judgments as JSON lines, in BEIR's, TREC's or MS MARCO's
layout, as TSV or as Parquet; all of it is read first, and what was found is
reported. Missing splits are drawn.

A .gitignore keeps state, results and ` + pipeline.LocalFile + ` out of the repository.
Existing files are never overwritten.`,
		Example: `  redsi init study && cd study && redsi run
  redsi init --nq corpus
  redsi init --corpus examples/postgresql manual`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, starter := ".", "study"
			if len(args) == 1 {
				dir = args[0]
			}
			if corpus != "" && nq {
				return fault.Input(errors.New("give either --nq or --corpus, not both"))
			}
			if corpus != "" {
				return a.initCorpus(cmd.Context(), corpus, dir)
			}
			if nq {
				starter = "nq"
			}
			files, err := starterFiles(starter)
			if err != nil {
				return err
			}
			wrote, err := writeFiles(files, dir)
			if err != nil {
				return err
			}
			if a.JSON {
				return view.WriteJSON(a.Out, map[string]any{"wrote": wrote})
			}
			printWrote(a.Out, wrote, dir)
			return nil
		},
	}
	cmd.Flags().BoolVar(&nq, "nq", false, "the first steps of the ReDSI paper, on a generated corpus")
	cmd.Flags().StringVar(&corpus, "corpus", "", "a retrieval study on the documents, queries and judgments in this `folder`")
	return cmd
}

func printWrote(out io.Writer, wrote []string, dir string) {
	for _, file := range wrote {
		view.Printf(out, "wrote %s\n", file)
	}
	next := "redsi run"
	if dir != "." {
		next = "cd " + quoted(dir) + " && " + next
	}
	view.Printf(out, "next: %s\n", next)
}

// starterFiles are the files of a starter by name.
func starterFiles(name string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(starters, path.Join("starter", name), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[d.Name()], err = starters.ReadFile(p)
		}
		return err
	})
	return files, err
}

// writeFiles writes files into a folder, all or none, and returns their names. Only what git
// ignores may exist already.
func writeFiles(files map[string][]byte, dir string) ([]string, error) {
	names := slices.Sorted(maps.Keys(files))
	for _, n := range names {
		if exists(filepath.Join(dir, n)) {
			return nil, fault.Input(fmt.Errorf("%s already exists; init does not overwrite files", filepath.Join(dir, n)))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fault.Input(err)
	}
	if ignore := filepath.Join(dir, ".gitignore"); !exists(ignore) {
		names = append(names, ".gitignore")
		files[".gitignore"] = []byte(ignored)
	}
	var wrote []string
	for _, n := range names {
		file := filepath.Join(dir, n)
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = writeNew(file, files[n])
		}
		if errors.Is(err, fs.ErrExist) {
			return nil, fault.Input(fmt.Errorf("%s already exists; init does not overwrite files", file))
		}
		if err != nil {
			return nil, err
		}
		wrote = append(wrote, file)
	}
	return wrote, nil
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// writeNew writes a file that must not exist.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
