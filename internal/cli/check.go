package cli

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
)

func newCheckCmd(a *app) *cobra.Command {
	var junit, markdown, values string
	var strict, all bool
	var tex *texOptions
	cmd := &cobra.Command{
		Use:   "check [FILE.tex...]",
		Short: "Compare the results with what the paper says; with FILE.tex, the paper with the results",
		Long: `Compares the cells of tables and figures that have results with what the pipeline expects of them,
and evaluates its claims. Nothing runs: expectations are not part of any key, so an edited claim is
evaluated at once.

An expectation matches or holds; is near, which is not a failure; or differs or is broken. The
paper's values are compared at the paper's scale only, those expected at another scale, such as toy,
at that scale. What has not run is counted; with --strict it fails as well. --values writes the
cells as they are, for a pipeline to expect at this scale: such values check that a later run gives
the same, and say nothing about the paper. With --target, only those tables and figures are checked,
and the claims that are about no others.

Exit code 0 if nothing fails, 1 if an expectation of severity error does.

With FILE.tex:
` + checkTexHelp,
		Example: `  redsi check
  redsi check --target table.dedup_counts --verbose
  redsi check --strict --junit results/expectations.xml
  redsi check --markdown results/expectations.md
  redsi check --var scale=toy --values toy.csv
  redsi check paper.tex
  redsi check paper.tex --since main
  redsi check paper.tex --json | jq '.typed[] | [.place.line, .text, .candidates[0].write]'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			switch {
			case len(args) > 0 && (junit != "" || values != "" || strict):
				return fault.Input(errors.New("--junit, --values and --strict cannot be used with a paper"))
			case len(args) > 0:
				tex.Markdown, tex.Each = markdown, all
				return a.checkTex(ctx, args, *tex)
			case *tex != (texOptions{}):
				return fault.Input(errors.New("--numbers, --since and --against need a paper: name its FILE.tex"))
			}
			if files := slices.DeleteFunc([]string{junit, markdown, values}, func(s string) bool { return s == "" }); len(slices.Compact(slices.Sorted(slices.Values(files)))) < len(files) {
				return fault.Input(errors.New("--junit, --markdown and --values must be given different files"))
			}
			v, err := a.Preview(ctx, session.Rendered)
			if err != nil {
				return err
			}
			j, err := a.judge(ctx, v.Store, v.Preview, v.Pipeline)
			if err != nil {
				return err
			}
			forms := map[string]func(io.Writer) error{junit: j.JUnit, markdown: j.Markdown, values: func(w io.Writer) error {
				return expect.Values(ctx, v.Preview, v.Store.Open, w)
			}}
			for path, write := range forms {
				if err := a.writeForm(path, write); err != nil {
					return err
				}
			}
			sum := j.Summary()
			switch {
			case a.JSON:
				if err := view.WriteJSON(a.Out, map[string]any{"ok": sum.Ok(strict), "summary": sum, "items": j.Items, "claims": j.Claims}); err != nil {
					return err
				}
			case !sum.Any():
				view.Printf(a.Out, "%s has no expectations: add expect or claim blocks.\n", a.File)
				view.Expectations(a.Out, j, all)
			case forms["-"] == nil:
				view.Expectations(a.Out, j, all)
				if sum.NotRun > 0 {
					view.Printf(a.Out, "to run the rest: %s\n", a.ToRun(a.Targets...))
				}
			}
			if !sum.Ok(strict) {
				return fault.Printed(fault.CodeFailed)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&junit, "junit", "", "also write JUnit's XML to this `FILE`; - is standard output")
	f.StringVar(&markdown, "markdown", "", "also write Markdown to this `FILE`; - is standard output")
	f.StringVar(&values, "values", "", "also write the cells' present values, as CSV, to this `FILE`: for expectations at a scale that the paper does not have")
	f.BoolVar(&strict, "strict", false, "exit 1 also if something has not run")
	f.BoolVarP(&all, "verbose", "v", false, "list every expectation, also those that hold; with a paper, every number")
	tex = texFlags(cmd)
	return with(cmd, a.pipelineFlags, a.targetFlag, a.fromFlags)
}

// judge compares the results of a preview with what the pipeline expects.
func (a *app) judge(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, p *pipeline.Pipeline) (*expect.Judged, error) {
	defer a.Waiting("reading the tables and figures")()
	j, err := expect.Judge(ctx, v, p.Claims, store.Open)
	if err != nil {
		return nil, err
	}
	j.Part = p.Paper.Part
	return j.Only(), nil
}
