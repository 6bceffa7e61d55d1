package report

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// Reader opens a blob; its bytes are verified.
type Reader = expect.Reader

// State says whether a table or figure has a result.
type State string

// The states of a table or figure.
const (
	Done    State = "done"
	NotRun  State = "not run"
	LeftOut State = "left out" // by its when
)

// Item is a table or figure.
type Item struct {
	Index   int // of its node
	Address string
	Block   string // "table" or "figure"
	Name    string
	Paper   string
	Caption string // with markup
	Scale   string
	Other   bool // its scale differs from the paper's
	State   State
	Waits   []string // for NotRun: the steps that must run first
	Failed  []string // for NotRun: the failed ones among these steps, and their errors
	Why     string   // for LeftOut
	Lacks   []string // failed steps that it, or its inputs, do without
	Table   *render.Table
	Figure  *render.Figure
	SVG     []byte
	Checks  []render.Check // of its cells; NotRun without a result
	Claims  []expect.Claim // about its cells
	Files   []Download
	Used    usage.Sum // of all steps behind it, including itself

	Image   template.URL // drawn by a step, with its bytes
	Page    string       // written by a step, in HTML
	Unshown string       // why the page shows neither

	PaperSVG []byte // the paper's points, if any
	Among    bool   // PaperSVG has the rebuilt points too

	result *artifacts.Result
	at     pipeline.Pos // of its when, for LeftOut
	quote  bool         // in CSV, texts that a spreadsheet would evaluate
}

// Title returns the item's name for people.
func (it *Item) Title() string {
	return map[string]string{"table": "Table: ", "figure": "Figure: "}[it.Block] + it.Short()
}

// Short returns the title without the word table or figure.
func (it *Item) Short() string { return strings.ReplaceAll(it.Name, "_", " ") }

// Columns returns how many columns the item's table has, including titles.
func (it *Item) Columns() int { return len(it.Table.Stubs) + len(it.Table.Columns) }

// Alt describes the item's picture in words.
func (it *Item) Alt() string {
	f := it.Figure
	if len(f.Series) == 0 {
		return it.Title()
	}
	var names []string
	points := 0
	for _, s := range f.Series {
		names = append(names, render.Plain(s.Title))
		points += len(s.Points)
	}
	return fmt.Sprintf("%s: %s over %s, %d points of %s; the data are below", it.Title(), f.Y.Title, f.X.Title, points, strings.Join(names, ", "))
}

// Traced reports whether the item's numbers can be traced by name; texts of a figure cannot.
func (it *Item) Traced() bool {
	return it.Table != nil || it.Figure != nil && len(it.Figure.Series) > 0
}

// newItem returns the item of an address. Its name has no type of block.
func newItem(i int, item string) *Item {
	a := address.Of(item)
	named := address.Address{Modules: a.Modules, Name: a.Label(), Key: a.Key}
	return &Item{Index: i, Address: item, Block: a.Type(), Name: named.String()}
}

// loadItem reads a table or figure, or only its configuration if it has not run.
func loadItem(ctx context.Context, n *Node, read Reader) (*Item, error) {
	it := newItem(n.Index, n.Address)
	it.State, it.Waits, it.Lacks = NotRun, n.waits, n.lacks
	var c struct {
		Paper, Caption, Scale string
		PaperScale            string `json:"paper_scale"`
		CSVFormulas           string `json:"csv_formulas"`
	}
	if err := json.Unmarshal(n.config, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", it.Address, err)
	}
	it.Paper, it.Caption, it.Scale = c.Paper, c.Caption, c.Scale
	it.quote = c.CSVFormulas == "quote"
	it.Other = !render.AtPaperScale(c.Scale, c.PaperScale)
	if n.result == nil {
		return it, nil
	}
	return it, it.fill(ctx, n.result, read)
}

// withLeftOut inserts the tables and figures that a plan leaves out, which have no nodes, at their places in their files.
func withLeftOut(items []*Item, pl *plan.Plan) []*Item {
	for _, s := range pl.Skipped {
		if !address.Of(s.Address).IsRendered() {
			continue
		}
		at := len(items)
		for i, it := range items {
			pos := it.at
			if it.State != LeftOut {
				pos = pl.Steps[it.Index].Pos
			}
			if pos.File == s.Pos.File && pos.Line > s.Pos.Line {
				at = i
				break
			} else if pos.File == s.Pos.File {
				at = i + 1
			}
		}
		it := newItem(-1, s.Address)
		it.Paper, it.Caption, it.State, it.Why, it.at = s.Paper, s.Caption, LeftOut, s.Reason(), s.Pos
		items = slices.Insert(items, at, it)
	}
	return items
}

func (it *Item) fill(ctx context.Context, r *artifacts.Result, read Reader) error {
	it.State, it.result = Done, r
	b, err := expect.ReadOutput(ctx, r, "json", read)
	if err != nil {
		return fmt.Errorf("%s: %w", it.Address, err)
	}
	if it.Block == "table" {
		it.Table, err = render.ReadTable(b) // rejects LaTeX and HTML that no table can have
		it.Table.QuoteFormulas = it.quote
		it.Table.Lacking(len(it.Lacks))
		it.Paper, it.Caption, it.Scale = it.Table.Paper, it.Table.Caption, it.Table.Scale
	} else {
		it.Figure = &render.Figure{QuoteFormulas: it.quote}
		if err = json.Unmarshal(b, it.Figure); err == nil {
			err = it.Figure.Finish()
		}
		it.Paper, it.Caption, it.Scale = it.Figure.Paper, it.Figure.Caption, it.Figure.Scale
		if err == nil && it.Figure.Image == nil {
			it.SVG, err = expect.ReadOutput(ctx, r, "svg", read)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", it.Address, err)
	}
	return nil
}
