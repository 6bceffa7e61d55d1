package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/prose"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/internal/system/words"
)

func newCheckCmd(a *app) *cobra.Command {
	var junit, markdown, values string
	var strict, all bool
	var tex texOptions
	cmd := &cobra.Command{
		Use:   "check [FILE.tex...]",
		Short: "Compare the results with what the paper says; with FILE.tex, the paper with the results",
		Long: `Compares the cells of tables and figures that have results with what the pipeline expects of them,
and evaluates its claims. Nothing runs: expectations are not part of any key, so an edited claim is evaluated at once.

An expectation matches or holds; is near, which is not a failure; or differs or is broken. The paper's values are
compared at the paper's scale only, those expected at another scale, such as toy, at that scale. What has not run is
counted; with --strict it fails as well. --values writes the cells as they are, for a pipeline to expect at this
scale: such values check that a later run gives the same, and say nothing about the paper. With --target, only those
tables and figures are checked, and the claims that are about no others.

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
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			switch {
			case len(args) > 0 && (junit != "" || values != "" || strict):
				return fault.Input(errors.New("--junit, --values and --strict are about the results, not about a paper: leave them out, or leave FILE.tex out"))
			case len(args) > 0:
				tex.Markdown, tex.Each = markdown, all
				return a.checkTex(ctx, args, tex)
			case tex != (texOptions{}):
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
	f.StringVar(&tex.Numbers, "numbers", "", "with a paper: a numbers.tex to use instead of the pipeline's results")
	f.StringVar(&tex.Since, "since", "", "with a paper: show what has changed since this git revision, by its numbers.tex")
	f.StringVar(&tex.Against, "against", "", "with a paper: show what has changed since a run: an id, last, last~1")
	return with(cmd, a.pipelineFlags, a.targetFlag, a.fromFlags)
}

func (a *app) judge(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, p *pipeline.Pipeline) (*expect.Judged, error) {
	defer a.Waiting("reading the tables and figures")()
	j, err := expect.Judge(ctx, v, p.Claims, store.Open)
	if err != nil {
		return nil, err
	}
	j.Part = p.Paper.Part
	return j.Only(), nil
}

type texOptions struct {
	Numbers  string // a numbers.tex instead of the pipeline's results
	Since    string // revision of git to compare its numbers.tex with
	Against  string // run to compare with
	Markdown string
	Each     bool // list every number of a hand-typed table
}

func (a *app) checkTex(ctx context.Context, files []string, o texOptions) error {
	if o.Since != "" && o.Against != "" {
		return fault.Input(errors.New("give either --since or --against, not both"))
	}
	p, err := prose.ReadFiles(files)
	if err != nil {
		return fault.Input(err)
	}
	now, before, err := a.texNumbers(ctx, files[0], o)
	if err != nil {
		return err
	}
	r := prose.Check(p, now, before)
	if err := a.writeForm(o.Markdown, r.Markdown); err != nil {
		return err
	}
	switch {
	case a.JSON:
		err = view.WriteJSON(a.Out, struct {
			Ok bool `json:"ok"`
			*prose.Result
		}{!r.Failed(), r})
	case o.Markdown != "-":
		view.Paper(a.Out, r, o.Each)
		if len(r.NotRun) > 0 {
			view.Printf(a.Out, "%s %s not run, so no number was compared with them: %s\n", view.Items(len(r.NotRun)), words.Of(len(r.NotRun), "has", "have"), a.ToRun(a.Targets...))
		}
	}
	if err == nil && r.Failed() {
		err = fault.Printed(fault.CodeFailed)
	}
	return err
}

// texNumbers are the cells as they are, and as they were if that was asked for.
func (a *app) texNumbers(ctx context.Context, file string, o texOptions) (now, before *prose.Numbers, err error) {
	if o.Numbers != "" {
		if o.Against != "" {
			return nil, nil, fault.Input(errors.New("--against needs the pipeline's results, and --numbers takes a file in their place: leave one of them out"))
		}
		b, err := os.ReadFile(o.Numbers)
		if err != nil {
			return nil, nil, fault.Input(err)
		}
		if now, err = prose.ReadTeX(o.Numbers, string(b)); err != nil {
			return nil, nil, fault.Input(err)
		}
	} else {
		v, err := a.Preview(ctx, session.Rendered)
		if err != nil {
			return nil, nil, err
		}
		if now, err = report.NumbersOf(ctx, v.Preview, v.Store.Open); err != nil {
			return nil, nil, err
		}
		if o.Against != "" {
			results, err := a.renderedIn(ctx, v.Store, o.Against)
			if err != nil {
				return nil, nil, err
			}
			before, err = report.NumbersIn(ctx, v.Plan, results, v.Store.Open)
			return now, before, err
		}
	}
	if o.Since != "" {
		if before, err = prose.Since(ctx, filepath.Dir(file), o.Since, o.Numbers); err != nil {
			err = fault.Input(fmt.Errorf("--since %s: %w", shellwords.Quote(o.Since), err))
		}
	}
	return now, before, err
}

const checkTexHelp = `it reads LaTeX files, with the files in their folder that they \input, and compares the paper with the
cells of tables and figures. It reports

  - each \redsi{TABLE:ROW.COLUMN} that names no cell, and the nearest one;
  - with --since REVISION or --against RUN, numbers that are no longer what a cell prints, and
    \redsi cells that have changed;
  - each \includegraphics of a file that neither exists nor is a figure's, and of one in a folder
    figures that is not what its figure has now;
  - numbers that are typed by hand although a cell has them, and the \redsi{...} to write;
  - tables and figures that the paper does not include.

A number is taken for a cell's if its digits and the words beside it make a coincidence unlikely; numbers such as 2 or
40 say too little and are only counted. A table that is typed by hand gets one line; --verbose shows its numbers.

Exit code 1 if the paper disagrees with the results: the first three of these.`

// renderedIn reads a run's results of tables and figures, by address; results that have left the store are missing.
func (a *app) renderedIn(ctx context.Context, store *artifacts.Resolver, name string) (map[string]*artifacts.Result, error) {
	run, err := a.FindRun(ctx, store.Own, name)
	if err != nil {
		return nil, err
	}
	steps := slices.DeleteFunc(run.Steps, func(s runs.Step) bool { return !address.Of(s.Address).IsRendered() || s.Key.IsZero() })
	keys := lists.Map(steps, func(s runs.Step) artifacts.Digest { return s.Key })
	entries, err := artifacts.Inspect(ctx, store, keys)
	if err != nil {
		return nil, err
	}
	results := map[string]*artifacts.Result{}
	for _, s := range steps {
		if r := entries[s.Key].Result; r != nil {
			results[s.Address] = r
		}
	}
	return results, nil
}
