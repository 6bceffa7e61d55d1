package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/checklist"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/questions"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
)

func newReportCmd(a *app) *cobra.Command {
	var out, ui, namespace, latex, list string
	var pdf bool
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write one HTML file: every table and figure, the paper's numbers next to ours, and where each comes from",
		Long: `The file is self-contained and made from the existing results; what has not run is shown as such.
Nothing runs. Every number links to its lineage: the artifact it was read from, the step that made it, its key,
configuration, inputs and run. Tables and figures can be saved from it as CSV, JSON, LaTeX, PDF and PNG. It begins
with the pipeline's paper block, and contains no path of this machine. For a long pipeline the page shows 1,000 steps
in full, first those that tables and figures come from, and sums up all by block; --target STEP shows others.

--latex FOLDER also writes a LaTeX document of the tables and figures that have run: main.tex, tables/*.tex,
figures/*.pdf. Any TeX with the usual packages can compile it; --pdf does so with pdflatex, and writes main.pdf. The
folder also has redsi.sty and numbers.tex, with which a paper prints cells in its text: \redsi{TABLE:ROW.COLUMN}.

--checklist acl or neurips fills that checklist instead, as Markdown or, with --json, as JSON, to standard output or
--out FILE: from records of results, runs and failures, and from the pipeline's paper and checklist blocks. Each
answer says where it comes from; questions that cannot be answered are marked for the authors.`,
		Example: `  redsi report
  redsi report -o paper.html --target table.dedup_counts
  redsi report --latex results/latex --pdf
  redsi report --checklist acl -o checklist.md
  redsi report --temporal-ui http://127.0.0.1:8233   # with links to workflows`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if list != "" {
				if latex != "" || pdf {
					return fault.Input(errors.New("--checklist fills a checklist in place of the report: it cannot be used with --latex or --pdf"))
				}
				if !cmd.Flags().Changed("out") {
					out = ""
				}
				return a.writeChecklist(ctx, list, out)
			}
			if pdf && latex == "" {
				latex = filepath.Join("results", "latex")
			}
			var g *report.Gatherer
			v, err := a.Preview(ctx, func(of session.Seen) (plan.Keep, error) {
				book, err := a.Book(ctx, of.Store.Own)
				g = report.Gather(of.Plan, book)
				return g.Keep, err
			})
			if err != nil {
				return err
			}
			past, err := a.Journal(ctx, v.Store.Own, v.Preview)
			if err != nil {
				return err
			}
			failed := map[int]string{}
			for i, f := range past.Failed {
				failed[i] = f.Last()
			}
			o := report.Options{Failed: failed, Store: v.Store.Own.URL, UI: ui, Namespace: namespace, Paper: v.Pipeline.Paper, Claims: v.Pipeline.Claims, Command: a.hint}
			r, err := g.Build(ctx, v.Preview, v.Store.Open, o)
			if err != nil {
				return err
			}
			if err := atomicfile.Write(out, 0o644, r.HTML); err != nil {
				return err
			}
			written, err := r.WriteBundle(ctx, v.Store.Open, latex, pdf)
			if err != nil {
				return err
			}
			said := map[string]any{"path": out, "latex": written, "scales": r.Judged.Summary().Scales, "summary": r.Summary, "verdicts": r.Tally.Cells, "claims": r.Tally.Claims, "expectations": r.Judged.Summary()}
			if r.Rebuilt.Steps > 0 {
				said["rebuilt"] = map[string]any{"steps": r.Rebuilt.Steps, "signed": r.Rebuilt.Signed, "unsigned": r.Rebuilt.Unsigned}
			}
			return a.print(said, nil, func(w io.Writer) { view.Reported(w, r, out, written) })
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "out", "o", filepath.Join("results", "report.html"), "file to write")
	f.StringVar(&list, "checklist", "", "fill a checklist instead: acl or neurips")
	f.StringVar(&latex, "latex", "", "folder to write a LaTeX document to")
	f.BoolVar(&pdf, "pdf", false, "compile the LaTeX document (default folder results/latex)")
	f.StringVar(&ui, "temporal-ui", env("REDSI_TEMPORAL_UI", ""), "address of Temporal's UI, for links to workflows")
	f.StringVar(&namespace, "temporal-namespace", env("TEMPORAL_NAMESPACE", "default"), "namespace for those links")
	return with(cmd, a.pipelineFlags, a.targetFlag, a.fromFlags)
}

// writeChecklist fills a conference's checklist as Markdown, or JSON with --json, into a file or, if out is "", to standard output.
func (a *app) writeChecklist(ctx context.Context, name, out string) error {
	list, ok := questions.Of(name)
	if !ok {
		return fault.Input(fmt.Errorf("--checklist %s: want one of %s", name, strings.Join(questions.Names(), ", ")))
	}
	c, err := a.checklist(ctx, list)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		if a.JSON {
			return view.WriteJSON(w, c)
		}
		_, err := io.WriteString(w, c.Markdown())
		return err
	}
	out = cmp.Or(out, "-")
	if err := a.writeForm(out, write); err != nil || out == "-" {
		return err
	}
	view.Printf(a.Out, "%s  %s, %d of them left for the authors to answer\n", out, view.Count(len(c.Questions), "question"), c.Blank)
	return nil
}

func (a *app) checklist(ctx context.Context, list questions.List) (*checklist.Checklist, error) {
	var g *report.Gatherer
	var sizes *checklist.Sizes
	v, err := a.Preview(ctx, func(of session.Seen) (plan.Keep, error) {
		g, sizes = report.Gather(of.Plan, nil), checklist.NewSizes(a.Registry, of.Plan)
		return func(i int, it *plan.Item) bool {
			sizes.Note(i, it.Result)
			return g.Keep(i, it)
		}, nil
	})
	if err != nil {
		return nil, err
	}
	p := v.Pipeline
	r, err := g.Build(ctx, v.Preview, v.Store.Open, report.Options{Store: v.Store.Own.URL, Paper: p.Paper, Command: a.hint})
	if err != nil {
		return nil, err
	}
	models, packages, err := sizes.Read(ctx, v.Store)
	if err != nil {
		return nil, err
	}
	over := a.Waiting("adding up the time and resources of runs")
	spent, err := runs.SpentBy(ctx, v.Store, a.Project(), v.Plan.Pipeline)
	over()
	if err != nil {
		return nil, err
	}
	return checklist.Fill(checklist.Input{List: list, Said: p.Checklist, Vars: p.Vars, Plan: v.Plan, Report: r, Spent: spent, Parameters: models, Packages: packages, Command: a.hint}), nil
}
