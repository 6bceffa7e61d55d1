package cli

import (
	"bytes"

	textdiff "github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/format"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/system/fault"
)

func newValidateCmd(a *app) *cobra.Command {
	strict := false
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check a pipeline without running it",
		Long: `Evaluates the pipeline and checks every step against its kind. All errors are shown at once, each
with its location. Nothing is run, and of files that source blocks take only the names are looked
at. There are warnings for likely mistakes: unused variables, local values, sources and modules,
duplicate steps, for_each with one element or with equal instances, templates that are a single
value, and names that hide others. Test files are left to ` + "`redsi test`" + `.

Exit code 0 if the pipeline is valid, 2 if not; with --strict also 2 if there are warnings.`,
		Example: `  redsi validate
  redsi validate -f examples/kmeans-study
  redsi validate --json | jq '.diagnostics[] | [.file, .line, .summary]'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.Lint = true
			p, ds, err := a.Evaluate(cmd.Context())
			if err != nil {
				return err
			}
			var counts validated
			var folders []origins.Folder
			if p != nil {
				counts = countSteps(p)
				for _, s := range p.Steps {
					if f, ok := origins.Look(s.Address, s.Task, s.Pos); ok {
						folders = append(folders, f)
					}
				}
			}
			if a.JSON {
				err = view.WriteJSON(a.Out, map[string]any{"valid": !ds.HasErrors(), "counts": counts, "folders": folders, "diagnostics": ds})
			} else {
				err = a.printDiagnostics(ds)
			}
			switch {
			case err != nil:
				return err
			case ds.HasErrors(), strict && len(ds.List) > 0:
				return fault.Printed(fault.CodeInput)
			case !a.JSON:
				for _, f := range folders {
					view.Folder(a.Out, f)
				}
				view.Printf(a.Out, "%s is valid: %s\n", a.File, counts)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "exit 2 also if there are warnings")
	return with(cmd, a.pipelineFlags)
}

// validated counts what a pipeline declares, each instance separately.
type validated struct {
	Steps   int `json:"steps"`
	Tables  int `json:"tables"`
	Figures int `json:"figures"`

	Modules     int `json:"modules,omitempty"`
	ModuleSteps int `json:"module_steps,omitempty"` // including tables and figures
}

func countSteps(p *pipeline.Pipeline) (v validated) {
	modules := map[string]bool{}
	for _, s := range p.Steps {
		switch {
		case s.Module != "":
			modules[s.Module] = true
			v.ModuleSteps++
		case s.Block == "table":
			v.Tables++
		case s.Block == "figure":
			v.Figures++
		default:
			v.Steps++
		}
	}
	v.Modules = len(modules)
	return v
}

func (v validated) String() string {
	text := view.Count(v.Steps, "step") + ", " + view.Count(v.Tables, "table") + ", " + view.Count(v.Figures, "figure")
	if v.Modules > 0 {
		text += "; " + view.Count(v.Modules, "module") + " with " + view.Count(v.ModuleSteps, "step")
	}
	return text
}

func newFmtCmd(a *app) *cobra.Command {
	var check, diff, recursive bool
	cmd := &cobra.Command{
		Use:   "fmt [FILE|FOLDER...]",
		Short: "Format files of pipelines and tests",
		Long: `Files are formatted in place: indentation, and = signs in one column. For a folder, or pipelines.hcl,
which means its folder, all *.hcl; with --recursive also the files in its subfolders, except hidden ones. The names of
changed files are printed. The meaning of a file never changes. If a file is not HCL, none is written.`,
		Example: `  redsi fmt
  redsi fmt --check examples     # exit 2 if a file would change
  redsi fmt --recursive examples # chapters and modules, too
  redsi fmt --diff pipelines.hcl # show what would change, write nothing`,
		Args: cobra.ArbitraryArgs,
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
