package report

import (
	"cmp"
	"context"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/prose"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// Numbers returns the cells of the tables and figures that have run, for prose.
func (r *Report) Numbers() *prose.Numbers { return numbersOf(r.Items) }

func numbersOf(items []*Item) *prose.Numbers {
	n := &prose.Numbers{}
	names := map[string]bool{}
	for _, it := range items {
		if it.State != Done {
			continue
		}
		n.Scale = cmp.Or(n.Scale, it.Scale)
		n.Tables = append(n.Tables, it.prose())
		if it.Figure == nil {
			continue
		}
		if name, output := fileName(it.Name, names), it.forLaTeX(); output != "" {
			n.Pictures = append(n.Pictures, prose.Picture{Address: it.Address, Name: "figures/" + name + "." + output, Digest: it.result.Outputs[output].Digest.String()})
		}
	}
	return n
}

// NumbersOf reads the cells of a preview's tables and figures.
func NumbersOf(ctx context.Context, v *plan.Preview, read Reader) (*prose.Numbers, error) {
	var notRun []string
	var items []*Item
	for i, s := range v.Plan.Steps {
		if !s.IsRendered() {
			continue
		}
		n := stepNode(v, i)
		it, err := loadItem(ctx, &n, read)
		if err != nil {
			return nil, err
		}
		if it.State != Done {
			notRun = append(notRun, s.Address)
		}
		items = append(items, it)
	}
	n := numbersOf(items)
	n.NotRun = notRun
	return n, nil
}

// NumbersIn reads another run's cells of a plan's tables and figures.
func NumbersIn(ctx context.Context, p *plan.Plan, results map[string]*artifacts.Result, read Reader) (*prose.Numbers, error) {
	var items []*Item
	for _, s := range p.Steps {
		r := results[s.Address]
		if r == nil || !s.IsRendered() {
			continue
		}
		it := newItem(0, s.Address)
		if err := it.fill(ctx, r, read); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Address, err)
		}
		items = append(items, it)
	}
	return numbersOf(items), nil
}

func (it *Item) named() []render.Named {
	if it.Table != nil {
		return it.Table.Named()
	}
	return it.Figure.Named()
}

func (it *Item) prose() prose.Table {
	t := prose.Table{Address: it.Address, Label: it.Paper}
	for _, c := range it.named() {
		words := c.Head
		if c.Title != "" {
			words = c.Title + " | " + words
		}
		t.Cells = append(t.Cells, prose.Cell{Name: c.Name, Inline: c.Inline(), Words: words})
	}
	return t
}
