package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"
	textdiff "github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/atomicfile"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/view"
)

func newFmtCmd(a *app) *cobra.Command {
	var check, diff bool
	cmd := &cobra.Command{
		Use:   "fmt [FILE|FOLDER...]",
		Short: "Bring pipeline files into the usual form",
		Long: `Rewrites pipeline files in place: indentation, and = signs in one column. The
names of files that change are printed. What a file means never changes.`,
		Example: `  redsi fmt
  redsi fmt --check pipelines/   # exit 2 if a file would change
  redsi fmt --diff pipelines.hcl # show what would change, write nothing`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{a.File}
			}
			return a.format(args, check, diff)
		},
	}
	a.pipelineFlags(cmd)
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; exit 2 if a file would change")
	cmd.Flags().BoolVar(&diff, "diff", false, "show what would change; write nothing")
	return cmd
}

func (a *app) format(paths []string, check, diff bool) error {
	changed := []string{}
	for _, path := range paths {
		sources, err := pipeline.Read(path)
		if err != nil {
			return inputError(err)
		}
		if ds := pipeline.CheckSyntax(sources); ds.HasErrors() {
			return inputError(ds.Err())
		}
		for _, name := range sortedNames(sources) {
			src := sources[name]
			out := hclwrite.Format(src)
			if bytes.Equal(src, out) {
				continue
			}
			changed = append(changed, name)
			switch {
			case diff && !a.JSON:
				d := bytes.NewReader(textdiff.Diff(name, src, name+" (formatted)", out))
				if err := view.Copy(a.Out, d, terminal(a.Out) > 0); err != nil {
					return err
				}
			case !check && !diff:
				if err := replaceFile(name, out); err != nil {
					return err
				}
			}
			if !a.JSON && !diff {
				view.Println(a.Out, name)
			}
		}
	}
	if a.JSON {
		if err := view.WriteJSON(a.Out, map[string]any{"changed": changed}); err != nil {
			return err
		}
	}
	if check && len(changed) > 0 {
		return &exitError{code: exitInput}
	}
	return nil
}

// replaceFile writes a file whole or not at all, keeping its permissions. A link stays
// one: what it points at is written.
func replaceFile(name string, b []byte) error {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(name, b, info.Mode().Perm())
}

func sortedNames(sources map[string][]byte) []string {
	var names []string
	for n := range sources {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
