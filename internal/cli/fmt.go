package cli

import (
	"bytes"

	textdiff "github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/format"
	"github.com/redsi/redsi/internal/system/fault"
)

func newFmtCmd(a *app) *cobra.Command {
	var check, diff, recursive bool
	cmd := &cobra.Command{
		Use:   "fmt [FILE|FOLDER...]",
		Short: "Format files of pipelines and tests",
		Long: `Files are formatted in place: indentation, and = signs in one column. For a folder, or
pipelines.hcl, which means its folder, all *.hcl; with --recursive also the files in its subfolders,
except hidden ones. The names of changed files are printed. The meaning of a file never changes. If
a file is not HCL, none is written.`,
		Example: `  redsi fmt
  redsi fmt --check examples     # exit 2 if a file would change
  redsi fmt --recursive examples # chapters and modules, too
  redsi fmt --diff pipelines.hcl # show what would change, write nothing`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{a.File}
			}
			files, err := format.Unformatted(args, recursive)
			if err != nil {
				return fault.Input(err)
			}
			changed := []string{}
			for _, f := range files {
				changed = append(changed, f.Name)
				switch {
				case diff && !a.JSON:
					d := bytes.NewReader(textdiff.Diff(f.Name, f.Was, f.Name+" (formatted)", f.Is))
					if err := view.Copy(a.Out, d, terminal(a.Out) > 0); err != nil {
						return err
					}
				case !check && !diff:
					if err := f.Replace(); err != nil {
						return err
					}
				}
				if !a.JSON && !diff {
					view.Println(a.Out, f.Name)
				}
			}
			if a.JSON {
				err = view.WriteJSON(a.Out, map[string]any{"changed": changed})
			}
			if err == nil && check && len(changed) > 0 {
				err = fault.Printed(fault.CodeInput)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; exit 2 if a file would change")
	cmd.Flags().BoolVar(&diff, "diff", false, "show what would change; write nothing")
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "go into folders within the folders")
	return with(cmd, a.pipelineFlags)
}
