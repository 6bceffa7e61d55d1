package cli

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/reference"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
)

func newKindsCmd(a *app) *cobra.Command {
	var markdown string
	var functions bool
	cmd := &cobra.Command{
		Use:   "kinds [KIND]",
		Short: "List the step kinds, or describe one",
		Example: `  redsi kinds
  redsi kinds dedup
  redsi kinds table
  redsi kinds --functions
  redsi kinds --markdown docs/kinds`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			kinds := reference.Kinds(a.Registry)
			switch {
			case markdown != "" && (a.JSON || functions || len(args) > 0):
				return fault.Input(errors.New("--markdown writes the reference of all kinds and cannot be combined with a kind or other flags: leave these out"))
			case markdown != "":
				for name, page := range reference.Markdown(kinds) {
					if err := atomicfile.WriteFile(filepath.Join(markdown, name), []byte(page), 0o644); err != nil {
						return err
					}
				}
				return nil
			case functions && len(args) > 0:
				return fault.Input(errors.New("--functions lists all functions and cannot be combined with a kind: leave one of them out"))
			case functions && a.JSON:
				return view.WriteJSON(a.Out, language.Functions())
			case functions:
				return reference.FunctionText(a.Out)
			case len(args) == 0 && a.JSON:
				return view.WriteJSON(a.Out, kinds)
			case len(args) == 0:
				return reference.List(a.Out, kinds)
			}
			k, err := reference.Find(a.Registry, args[0])
			switch {
			case err != nil:
				return fault.Input(err)
			case a.JSON:
				return view.WriteJSON(a.Out, k)
			}
			return reference.Text(a.Out, k, min(terminal(a.Out), 100))
		},
	}
	cmd.Flags().StringVar(&markdown, "markdown", "", "write the reference of all kinds as pages of Markdown into a `folder`")
	cmd.Flags().BoolVar(&functions, "functions", false, "list the functions of expressions")
	return cmd
}
