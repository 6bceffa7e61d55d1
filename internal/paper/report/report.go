package report

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
)

// Options say what the report cannot learn from results.
type Options struct {
	Store  string
	Paper  pipeline.Paper // the paper that the pipeline rebuilds
	Claims []pipeline.Claim

	// Command returns a command line of this program to copy; nil: without options.
	Command func(verb string, args ...string) string

	// Failed has the last line of the error of each step that failed under its current key.
	Failed map[int]string

	// Book has the attestations of results; nil: none.
	Book *attest.Book

	UI        string // address of Temporal's UI; "" shows workflow ids without links
	Namespace string
}

// Report is everything that the page shows.
type Report struct {
	Options
	Pipeline string
	Targets  []string
	Runs     []string // of the results, newest first
	Newest   time.Time
	Other    bool // the scale of a table or figure differs from the paper's
	Summary  plan.Summary
	Judged   *expect.Judged
	Tally    render.Tally
	Items    []*Item
	Nodes    []Node    // of all steps; of a long plan, most without lineage
	Blocks   []Block   // longest first
	Picture  *Picture  // of the blocks; nil if too many
	Timeline *Timeline // of the run that did most of the work; nil: none
	Curves   []*Curve  // of trainings that have results
	Envs     []Environment
	Files    []SourceFile
	Took     time.Duration
	Used     usage.Sum // of all steps with results
	Bytes    int64
	Left     Left
	Rebuilt  attest.Total    // attestations of all results
	shown    map[string]bool // ids of panels
	roomFor  map[string]bool // files that are in the page, by output
}

// Environment is where steps ran.
type Environment struct {
	Values map[string]string
	Steps  int
}

// SourceFile is a file from outside.
type SourceFile struct {
	Step, URL, SHA256, License string
	Size                       int64
	Index                      int
}

// load reads tables and figures, curves, and the beginnings of small outputs.
func (r *Report) load(ctx context.Context, items []int, read Reader) error {
	r.Items = make([]*Item, len(items))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for k, i := range items {
		g.Go(func() error {
			it, err := loadItem(gctx, &r.Nodes[i], read)
			if err != nil {
				return err
			}
			r.Items[k] = it
			it.Checks = r.Judged.Of(i)
			it.Claims = lists.Filter(r.Judged.Claims, func(c expect.Claim) bool { return slices.Contains(c.Items, it.Address) })
			return r.complete(gctx, it, read)
		})
	}
	curves := make([]*Curve, len(r.Nodes))
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if len(n.Outputs) > 0 {
			g.Go(func() error { return preview(gctx, n, read) })
		}
		for name, a := range outputsOf(n.result) {
			if a.Type == curveType && !n.result.Released {
				r.Left.Curves--
				g.Go(func() (err error) {
					curves[i], err = loadCurve(gctx, n, name, read)
					return err
				})
			}
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	r.Curves = slices.DeleteFunc(curves, func(c *Curve) bool { return c == nil })
	return nil
}

// complete adds the files and pictures of a table or figure to its result.
func (r *Report) complete(ctx context.Context, it *Item, read Reader) error {
	if it.State != Done {
		return nil
	}
	if err := r.addDownloads(ctx, it, read); err != nil {
		return fmt.Errorf("%s: %w", it.Address, err)
	}
	if it.Figure == nil {
		return nil
	}
	if it.Figure.Image != nil {
		return r.showImage(ctx, it, read)
	}
	if err := it.drawPaper(); err != nil {
		return fmt.Errorf("%s: %w", it.Address, err)
	}
	return nil
}

// Compared reports whether any number was compared with the paper's.
func (r *Report) Compared() bool { return !r.Other && r.Judged.Summary().Judged > 0 }

// Sentences returns the claims, as many as the page shows.
func (r *Report) Sentences() []expect.Claim {
	return r.Judged.Claims[:min(len(r.Judged.Claims), mostRows)]
}

// Have returns how many tables and figures have results.
func (r *Report) Have() int {
	return lists.Count(r.Items, func(it *Item) bool { return it.State == Done })
}

// Complete reports whether every step has a result.
func (r *Report) Complete() bool { return r.Summary.Run+r.Summary.Maybe == 0 }

// Count returns how many cells have a verdict from the comparison with the paper.
func (r *Report) Count(verdict string) int { return r.Tally.Cells[render.Verdict(verdict)] }

// Claims returns how many of the paper's claims have a verdict.
func (r *Report) Claims(verdict string) int { return r.Tally.Claims[render.Verdict(verdict)] }
