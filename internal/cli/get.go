package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/sharing/files"
	"github.com/redsi/redsi/internal/stores/local"
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
			store, found, err := files.Of(cmd.Context(), a.Session, args[0])
			if err != nil {
				return err
			}
			var bytes int64
			for _, f := range found {
				bytes += f.Size
			}
			copied, over := a.Copying("copied", bytes)
			err = local.WriteFiles(cmd.Context(), store.Blobs, found, args[1], force, copied)
			over()
			if _, ok := errors.AsType[*local.NotEmptyError](err); ok {
				return fault.Input(fmt.Errorf("%w: name a new folder, or give --force to replace files of the same names", err))
			}
			if err != nil {
				return err
			}
			return a.print(map[string]any{"folder": args[1], "files": found, "bytes": bytes}, func(w io.Writer) {
				view.Printf(w, "%s  %s, %s\n", args[1], view.Count(len(found), "file"), view.Size(bytes))
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "write into a folder that has files, replacing those of the same names")
	return cmd
}
