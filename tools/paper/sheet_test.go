package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/testkit"
)

// sheet is a table or figure with the paper's numbers and texts in its cells, as an exact rebuild would give it.
type sheet struct {
	address string
	expect  []render.Expectation
	cells   map[string]render.Cell
	columns [][]string // cells that are one below the other; with parts of columns between rules
	rows    [][]string // cells that are beside each other
	signed  []string   // cells with a sign
	checks  []render.Check
	judge   func(map[string]render.Cell) ([]render.Check, error)
}

// rendered is a table or figure's configuration, as far as its cells need it.
type rendered struct {
	Columns []struct {
		ID, From, Field, Format string
		Minus                   []string
		Decimals                int
		Scale                   float64
	}
	Rows []struct {
		ID, At, Format, Prefix, Section string
		Rule, Space                     bool
		Titles                          []string
		Value                           json.RawMessage
		Values                          map[string]json.RawMessage
		Fields, Texts                   map[string]string
		Numbers                         map[string]float64
		Decimals                        int
		Scale                           float64
	}
	X, Y, Y2 struct {
		Decimals int
		Scale    float64
	}
	Series []struct {
		ID, Axis string
		Points   []struct {
			ID   string
			X, Y struct {
				Number *float64
				Value  json.RawMessage
				Field  string
			}
		}
	}
	Panels, Flow []struct{}
	Expect       []render.Expectation
}

// cellAt is a cell, and where a run reads its number.
type cellAt struct {
	name, source string
	scale        float64
	minus        []string // cells that it is the difference of
	mean         []string // sources that it is the mean of
	rounded      bool     // to thousands
	constant     *float64
}

// sheets are the pipeline's tables and figures with expectations. A cell that claims name
// and no expectation prints has the number that the paper prints elsewhere of the same
// field of the same report.
func sheets(t *testing.T, file string) []*sheet {
	t.Helper()
	var out []*sheet
	var places [][]cellAt
	claims, err := eachConfig(file, func(s pipeline.Step) error {
		if s.Block == "step" {
			return nil
		}
		var c rendered
		if err := json.Unmarshal(s.Task.Config, &c); err != nil {
			return err
		}
		c.Expect = slices.DeleteFunc(c.Expect, func(e render.Expectation) bool { return e.Scale != "" })
		sh := &sheet{address: s.Address, expect: c.Expect, cells: map[string]render.Cell{}}
		at := sh.layTable(c)
		if s.Block == "figure" {
			at = sh.layFigure(c)
		}
		for _, e := range c.Expect {
			switch form, _ := e.Form(); form {
			case render.IsNumber, render.IsShown:
				sh.cells[e.Cell] = render.Cell{Value: e.Value, Std: e.Std}
			case render.IsText:
				sh.cells[e.Cell] = render.Cell{Text: sh.cells[e.Cell].Text + e.Text, Data: true}
			}
		}
		out, places = append(out, sh), append(places, at)
		return nil
	})
	testkit.None(t, err)
	for i := len(out) - 1; i >= 0; i-- {
		for _, c := range claims {
			out[i].expect = append(out[i].expect, c.expect[out[i].address]...)
		}
		if len(out[i].expect) == 0 {
			out, places = slices.Delete(out, i, i+1), slices.Delete(places, i, i+1)
		}
	}
	printed := map[string]float64{} // by source, before scale
	for i, sh := range out {
		for _, at := range places[i] {
			if v := sh.cells[at.name].Value; v != nil && at.source != "" && !at.rounded {
				printed[at.source] = *v / at.scale
			}
		}
	}
	for i, sh := range out {
		for _, at := range places[i] {
			v, known := printed[at.source]
			switch c := sh.cells[at.name]; {
			case c.Value != nil || c.Text != "":
			case at.constant != nil:
				sh.cells[at.name] = render.Number(*at.constant)
			case known:
				sh.cells[at.name] = render.Number(v * at.scale)
			case len(at.mean) > 0:
				sum := 0.0
				for _, source := range at.mean {
					v, known := printed[source]
					if !known {
						t.Fatalf("%s: %s is a mean of numbers that the paper does not print", sh.address, at.name)
					}
					sum += v
				}
				sh.cells[at.name] = render.Number(sum / float64(len(at.mean)) * at.scale)
			case len(at.minus) == 2 && sh.cells[at.minus[0]].Value != nil && sh.cells[at.minus[1]].Value != nil:
				sh.cells[at.name] = render.Number(*sh.cells[at.minus[0]].Value - *sh.cells[at.minus[1]].Value)
			}
		}
	}
	return out
}

func (sh *sheet) layTable(c rendered) (places []cellAt) {
	table := render.Table{Paper: "tab:x"}
	parts := make([][]string, len(c.Columns))
	wholes := make([][]string, len(c.Columns))
	endPart := func() {
		for k := range parts {
			if len(parts[k]) > 1 && len(parts[k]) < len(wholes[k]) {
				sh.columns = append(sh.columns, parts[k])
			}
			parts[k] = nil
		}
	}
	for _, k := range c.Columns {
		table.Columns = append(table.Columns, render.Column{ID: k.ID, Format: render.Format{Style: cmp.Or(k.Format, "fixed"), Decimals: k.Decimals}})
	}
	formats := map[string]*render.Format{}
	for _, r := range c.Rows {
		if r.Titles == nil && (r.Section != "" || r.Rule || r.Space) {
			endPart()
			continue
		}
		table.Rows = append(table.Rows, render.Row{ID: r.ID, Titles: []string{}})
		var row []string
		for i, k := range c.Columns {
			at := cellAt{name: r.ID + "." + k.ID, scale: cmp.Or(k.Scale, 1)}
			from := r.Value
			if k.From != "" {
				from = r.Values[k.From]
			}
			field := cmp.Or(r.Fields[k.ID], k.Field, k.ID)
			style := k.Format
			if r.Format != "" {
				formats[at.name] = &render.Format{Style: r.Format, Decimals: r.Decimals, Prefix: r.Prefix}
				style, at.scale = r.Format, cmp.Or(r.Scale, 1)
			}
			if v, ok := r.Numbers[k.ID]; ok {
				at.constant = &v
			} else if len(k.Minus) == 2 {
				at.minus = []string{r.ID + "." + k.Minus[0], r.ID + "." + k.Minus[1]}
			} else if len(from) > 0 && r.Texts[k.ID] == "" {
				var list []json.RawMessage
				if json.Unmarshal(from, &list) != nil {
					list = []json.RawMessage{from}
				}
				for _, one := range list {
					at.mean = append(at.mean, strings.Join(slices.DeleteFunc([]string{string(one), r.At, field}, func(s string) bool { return s == "" }), "."))
				}
				if at.rounded = style == "kilo"; len(list) == 1 || sh.prints(at.name) {
					at.source, at.mean = strings.Join(at.mean, " "), nil
				}
			}
			if style == "signed" {
				sh.signed = append(sh.signed, at.name)
			}
			places = append(places, at)
			row = append(row, at.name)
			parts[i], wholes[i] = append(parts[i], at.name), append(wholes[i], at.name)
		}
		sh.rows = append(sh.rows, row)
	}
	endPart()
	sh.columns = append(sh.columns, wholes...)
	sh.judge = func(cells map[string]render.Cell) ([]render.Check, error) {
		t := table
		t.Rows = slices.Clone(t.Rows)
		for i, r := range t.Rows {
			t.Rows[i].Cells = map[string]render.Cell{}
			for _, k := range t.Columns {
				cell := cells[r.ID+"."+k.ID]
				cell.Format = formats[r.ID+"."+k.ID]
				t.Rows[i].Cells[k.ID] = cell
			}
		}
		return t.Expect(sh.expect...)
	}
	return places
}

// prints reports whether the paper prints a cell.
func (sh *sheet) prints(name string) bool {
	return slices.ContainsFunc(sh.expect, func(e render.Expectation) bool { return e.Cell == name && e.Value != nil })
}

func (sh *sheet) layFigure(c rendered) (places []cellAt) {
	f := render.Figure{X: &render.Axis{Decimals: c.X.Decimals}, Y: &render.Axis{Decimals: c.Y.Decimals}, Y2: &render.Axis{Decimals: c.Y2.Decimals},
		Panels: make([]render.Panel, len(c.Panels)), Flow: make([]render.Stage, len(c.Flow))}
	beside := map[string][]string{}
	for _, s := range c.Series {
		out := render.Series{ID: s.ID, Right: s.Axis == "y2"}
		scales := map[string]float64{"x": cmp.Or(c.X.Scale, 1), "y": cmp.Or(c.Y.Scale, 1)}
		if out.Right {
			scales["y"] = cmp.Or(c.Y2.Scale, 1)
		}
		columns := map[string][]string{}
		for _, p := range s.Points {
			out.Points = append(out.Points, render.Point{ID: p.ID})
			for axis, n := range map[string]struct {
				Number *float64
				Value  json.RawMessage
				Field  string
			}{"x": p.X, "y": p.Y} {
				at := cellAt{name: s.ID + "." + p.ID + "." + axis, scale: scales[axis], constant: n.Number}
				if n.Field != "" {
					at.source = strings.Trim(string(n.Value), "[]") + "." + n.Field
				}
				places = append(places, at)
				columns[axis] = append(columns[axis], at.name)
				if !out.Right {
					beside[p.ID+axis] = append(beside[p.ID+axis], at.name)
				}
			}
		}
		f.Series = append(f.Series, out)
		sh.columns = append(sh.columns, columns["x"], columns["y"])
	}
	for _, id := range slices.Sorted(maps.Keys(beside)) {
		sh.rows = append(sh.rows, beside[id])
	}
	sh.judge = func(cells map[string]render.Cell) ([]render.Check, error) {
		g := f
		g.Series, g.Panels, g.Flow = nil, slices.Clone(f.Panels), slices.Clone(f.Flow)
		for _, s := range f.Series {
			s.Points = slices.Clone(s.Points)
			for i, p := range s.Points {
				s.Points[i].X, s.Points[i].Y = cells[s.ID+"."+p.ID+".x"], cells[s.ID+"."+p.ID+".y"]
			}
			g.Series = append(g.Series, s)
		}
		for i := range g.Panels {
			g.Panels[i].Text = cells[fmt.Sprintf("panels.%d", i)].Text
		}
		for i := range g.Flow {
			g.Flow[i].Text = cells[fmt.Sprintf("flow.%d", i)].Text
		}
		return g.Expect(sh.expect...)
	}
	return places
}
