package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/checklist"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/questions"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
)

// writeChecklist fills a conference's checklist, into a file or, if that is "", to standard
// output: Markdown, or JSON with --json.
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
	switch {
	case out != "":
		if err := atomicfile.Write(out, 0o644, write); err != nil {
			return err
		}
		view.Printf(a.Out, "%s  %s, %d of them left for the authors to answer\n", out, view.Count(len(c.Questions), "question"), c.Blank)
		return nil
	case a.JSON:
		return write(a.Out)
	}
	view.Println(a.Out, view.Document(strings.TrimSuffix(c.Markdown(), "\n")))
	return nil
}

// checklist gathers the answers for a checklist.
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
	r, err := g.Build(ctx, v.Preview, v.Store.Blobs.Open, report.Options{Store: v.Store.URL, Paper: p.Paper, Command: a.hint})
	if err != nil {
		return nil, err
	}
	models, err := sizes.Read(ctx, v.Store.Blobs.Open)
	if err != nil {
		return nil, err
	}
	packages, err := sizes.Packages(ctx, v.Store.Blobs.Open)
	if err != nil {
		return nil, err
	}
	over := a.Waiting("adding up the time and resources of runs")
	spent, err := activities.SpentBy(ctx, v.Store, a.Project(), v.Plan.Pipeline)
	over()
	if err != nil {
		return nil, err
	}
	return checklist.Fill(checklist.Input{List: list, Said: p.Checklist, Vars: p.Vars, Plan: v.Plan, Report: r, Spent: spent, Parameters: models, Packages: packages, Command: a.hint}), nil
}
