package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds"
)

// block is a table or figure of a pipeline, as far as it is known before a run.
type block struct {
	Name    string
	Figure  bool
	Paper   string
	Stubs   []string
	Columns []column
	Rows    []row
	Expect  []render.Expectation
}

type column struct {
	ID, Title, Best string
	Groups          []string
	Format          string
	Decimals        int
}

type row struct {
	ID, Compare, Section string
	Rule, Space          bool
	Titles               []string
	Bold                 []string
	Texts                map[string]string
	Numbers              map[string]float64
	Format               string
	Decimals             int
}

// claim is a sentence of the paper with its expectations.
type claim struct {
	name   string
	text   string
	items  []string                        // addresses of its tables and figures
	expect map[string][]render.Expectation // by address, with the cells' names in the table or figure
}

// load reads a pipeline's tables, figures and claims at full scale, and the addresses of all its steps.
func load(file string) (blocks []block, claims []claim, addresses []string, err error) {
	claims, err = eachConfig(file, func(s pipeline.Step) error {
		addresses = append(addresses, s.Address)
		if s.Block == "step" {
			return nil
		}
		blocks = append(blocks, block{Name: s.Name, Figure: s.Block == "figure"})
		return json.Unmarshal(s.Task.Config, &blocks[len(blocks)-1])
	})
	for i := range blocks { // without what is expected at another scale than the paper's
		blocks[i].Expect = slices.DeleteFunc(blocks[i].Expect, func(e render.Expectation) bool { return e.Scale != "" })
	}
	return blocks, claims, addresses, err
}

// eachConfig evaluates a pipeline with its defaults, passes its steps, tables and figures, and returns its claims.
func eachConfig(file string, pass func(pipeline.Step) error) (claims []claim, err error) {
	src, err := syntax.Read(file)
	if err != nil {
		return nil, err
	}
	p, ds := pipeline.Load(src, pipeline.Options{Registry: kinds.Registry(), World: pipeline.World{ReadFile: os.ReadFile}})
	if ds.HasErrors() {
		return nil, ds.Err()
	}
	for _, s := range p.Steps {
		if err := pass(s); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Address, err)
		}
	}
	for _, c := range p.Claims {
		var config struct {
			Text   string
			Expect []render.Expectation
		}
		if err := json.Unmarshal(c.Config, &config); err != nil {
			return nil, fmt.Errorf("claim %s: %w", c.Name, err)
		}
		one := claim{c.Name, config.Text, c.Items(), map[string][]render.Expectation{}}
		for _, e := range config.Expect {
			if e.Scale != "" {
				continue // not the paper's
			}
			item := ""
			for _, cells := range [][]string{{e.Cell}, e.Above, e.Below, e.Order, e.Minus, e.Ratio, e.Min, e.Max, e.Mean, e.Sum} {
				for i, cell := range cells {
					if cell != "" {
						item, cells[i], _ = address.Cell(cell)
					}
				}
			}
			_, e.Cell, _ = address.Cell(e.Cell)
			one.expect[item] = append(one.expect[item], e)
		}
		claims = append(claims, one)
	}
	return claims, nil
}

// address returns the block's name in the pipeline.
func (b block) address() string {
	if b.Figure {
		return "figure." + b.Name
	}
	return "table." + b.Name
}

// is reports whether the block is the float with a label, rather than a part of it.
func (b block) is(label string) bool {
	_, name, _ := strings.Cut(label, ":")
	return strings.ReplaceAll(name, "-", "_") == b.Name
}

// numbers returns the expectations of a cell's number.
func (b block) numbers() []render.Expectation {
	return lists.Filter(b.Expect, func(e render.Expectation) bool {
		form, _ := e.Form()
		return form == render.IsNumber || form == render.IsShown
	})
}

// texts returns the expectations of a cell's text.
func (b block) texts() []render.Expectation {
	return lists.Filter(b.Expect, func(e render.Expectation) bool { return e.Text != "" })
}

// titled returns the rows that are neither headings nor marks.
func (b block) titled() []row {
	return lists.Filter(b.Rows, func(r row) bool {
		return r.Titles != nil || len(b.Stubs) == 0 && r.Section == "" && !r.Rule && !r.Space
	})
}

// printed returns the table with the paper's numbers, finished as by a run, which makes cells bold.
func (b block) printed(rows []row) (*render.Table, error) {
	t := &render.Table{Paper: b.Paper, Stubs: b.Stubs}
	for _, c := range b.Columns {
		f := render.Format{Style: cmp.Or(c.Format, "fixed"), Decimals: c.Decimals}
		t.Columns = append(t.Columns, render.Column{ID: c.ID, Title: c.Title, Groups: c.Groups, Best: c.Best, Format: f})
	}
	expected := lists.By(append(b.numbers(), b.texts()...), func(e render.Expectation) string { return e.Cell })
	for _, r := range rows {
		cells := map[string]render.Cell{}
		for _, c := range b.Columns {
			var cell render.Cell
			if e, ok := expected[r.ID+"."+c.ID]; ok {
				cell = render.Cell{Value: e.Value, Std: e.Std, Text: e.Text}
			} else if v, ok := r.Numbers[c.ID]; ok {
				cell = render.Number(v)
			} else {
				cell = render.Cell{Text: r.Texts[c.ID]}
			}
			cells[c.ID] = cell
		}
		t.Rows = append(t.Rows, render.Row{ID: r.ID, Titles: append([]string{}, r.Titles...), Compare: r.Compare, Cells: cells})
	}
	if err := t.Finish(); err != nil {
		return nil, err
	}
	for i, r := range rows {
		for _, id := range r.Bold {
			cell := t.Rows[i].Cells[id]
			cell.Bold = true
			t.Rows[i].Cells[id] = cell
		}
	}
	return t, nil
}
