package cli

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/view"
)

// starters are what init writes: a folder for each.
//
//go:embed starter
var starters embed.FS

// ignored is what is of one machine or made again.
const ignored = ".redsi/\n.redsi.lock.lock\nresults/\n" + pipeline.LocalFile + "\n"

func newInitCmd(a *app) *cobra.Command {
	var nq bool
	cmd := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a small study that runs, to start your own from",
		Long: `Write a small study that runs, to start your own from: a program that is run for
several seeds, a table and a figure of its numbers, what is expected of them, and a
test. With --nq it is the first steps of the ReDSI paper on a generated corpus.

Beside it stands a .gitignore, which keeps state, results and ` + pipeline.LocalFile + ` out of
a repository. A file that is there is never overwritten.`,
		Example: `  redsi init study && cd study && redsi run
  redsi init --nq corpus`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, starter := ".", "study"
			if len(args) == 1 {
				dir = args[0]
			}
			if nq {
				starter = "nq"
			}
			wrote, err := writeStarter(starter, dir)
			if err != nil {
				return err
			}
			if a.JSON {
				return view.WriteJSON(a.Out, map[string]any{"wrote": wrote})
			}
			for _, file := range wrote {
				view.Printf(a.Out, "wrote %s\n", file)
			}
			next := "redsi run"
			if dir != "." {
				next = "cd " + quoted(dir) + " && " + next
			}
			view.Printf(a.Out, "next: %s\n", next)
			return nil
		},
	}
	cmd.Flags().BoolVar(&nq, "nq", false, "the first steps of the ReDSI paper, on a generated corpus")
	return cmd
}

// writeStarter writes a starter's files into a folder, or none of them, and names them.
// Only what git ignores may be there already.
func writeStarter(name, dir string) ([]string, error) {
	files := map[string][]byte{}
	var names []string
	err := fs.WalkDir(starters, path.Join("starter", name), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, d.Name())
			files[d.Name()], err = starters.ReadFile(p)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if exists(filepath.Join(dir, n)) {
			return nil, inputError(fmt.Errorf("%s already exists; init overwrites nothing", filepath.Join(dir, n)))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, inputError(err)
	}
	if ignore := filepath.Join(dir, ".gitignore"); !exists(ignore) {
		names = append(names, ".gitignore")
		files[".gitignore"] = []byte(ignored)
	}
	var wrote []string
	for _, n := range names {
		file := filepath.Join(dir, n)
		err := writeNew(file, files[n])
		if errors.Is(err, fs.ErrExist) {
			return nil, inputError(fmt.Errorf("%s already exists; init overwrites nothing", file))
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

// writeNew writes a file that must not be there.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
