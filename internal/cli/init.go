package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/view"
)

// starter is the pipeline that init writes.
//
//go:embed starter.hcl
var starter []byte

// ignored is what is of one machine or made again.
const ignored = ".redsi/\n.redsi.lock.lock\nresults/\n" + pipeline.LocalFile + "\n"

func newInitCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a small commented pipelines.hcl that runs, to start from",
		Long: `Write a small commented pipelines.hcl that runs, to start from.

Beside it stands a .gitignore, which keeps state, results and ` + pipeline.LocalFile + ` out of
a repository. A file that is there is never overwritten.`,
		Example: `  redsi init study && cd study && redsi run`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return inputError(err)
			}
			path := filepath.Join(dir, "pipelines.hcl")
			err := writeNew(path, starter)
			if errors.Is(err, fs.ErrExist) {
				return inputError(fmt.Errorf("%s already exists; init overwrites nothing", path))
			}
			if err != nil {
				return err
			}
			if err := writeNew(filepath.Join(dir, ".gitignore"), []byte(ignored)); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			if a.JSON {
				return view.WriteJSON(a.Out, map[string]string{"wrote": path})
			}
			view.Printf(a.Out, "wrote %s; next: %s\n", path, a.hint("run", "-f", path))
			return nil
		},
	}
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
