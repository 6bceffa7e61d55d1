package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/render"
)

// sheet is a table or figure with the paper's numbers and texts in its cells: what a run
// that rebuilds exactly what is printed would give.
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
	err := eachConfig(file, func(s pipeline.Step) error {
		if s.Block == "step" {
			return nil
		}
		var c rendered
		if err := json.Unmarshal(s.Task.Config, &c); err != nil || len(c.Expect) == 0 {
			return err
		}
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
	if err != nil {
		t.Fatal(err)
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

func orOne(scale float64) float64 {
	if scale == 0 {
		return 1
	}
	return scale
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
		table.Columns = append(table.Columns, render.Column{ID: k.ID, Format: render.Format{Style: orFixed(k.Format), Decimals: k.Decimals}})
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
			at := cellAt{name: r.ID + "." + k.ID, scale: orOne(k.Scale)}
			from := r.Value
			if k.From != "" {
				from = r.Values[k.From]
			}
			field := k.Field
			if field == "" {
				field = k.ID
			}
			if f, ok := r.Fields[k.ID]; ok {
				field = f
			}
			style := k.Format
			if r.Format != "" {
				formats[at.name] = &render.Format{Style: r.Format, Decimals: r.Decimals, Prefix: r.Prefix}
				style, at.scale = r.Format, orOne(r.Scale)
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
		err := t.Expect(sh.expect...)
		return t.Checks, err
	}
	return places
}

// prints reports whether the paper prints a cell.
func (sh *sheet) prints(name string) bool {
	return slices.ContainsFunc(sh.expect, func(e render.Expectation) bool { return e.Cell == name && e.Value != nil })
}

func orFixed(style string) string {
	if style == "" {
		return "fixed"
	}
	return style
}

func (sh *sheet) layFigure(c rendered) (places []cellAt) {
	f := render.Figure{X: &render.Axis{Decimals: c.X.Decimals}, Y: &render.Axis{Decimals: c.Y.Decimals}, Y2: &render.Axis{Decimals: c.Y2.Decimals},
		Panels: make([]render.Panel, len(c.Panels)), Flow: make([]render.Stage, len(c.Flow))}
	sh.columns, sh.rows, sh.signed = nil, nil, nil
	beside := map[string][]string{}
	for _, s := range c.Series {
		out := render.Series{ID: s.ID, Right: s.Axis == "y2"}
		scales := map[string]float64{"x": orOne(c.X.Scale), "y": orOne(c.Y.Scale)}
		if out.Right {
			scales["y"] = orOne(c.Y2.Scale)
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
		err := g.Expect(nil, sh.expect...)
		return g.Checks, err
	}
	return places
}

// mutant is one way in which a run could be wrong.
type mutant struct {
	how   string
	cells map[string]render.Cell // that have another content
}

// hows are the ways, in the order in which they are told.
var hows = []string{"two cells of a column swapped", "a column turned around", "a column shuffled", "a row shuffled", "a column all at its mean",
	"a signed number negated", "a deviation of 0", "a deviation times 3", "another text"}

// mutants are wrong runs. Cells of which nothing is said are left as they are.
func (sh *sheet) mutants() (out []mutant) {
	said := map[string]bool{} // what is expected, or claimed, of the cell
	for _, c := range sh.checks {
		said[c.Cell] = said[c.Cell] || c.Form != render.IsShown
		for _, f := range c.Cells {
			said[f.Cell] = true
		}
	}
	numbers := func(names []string) (kept []string) {
		for _, n := range names {
			if sh.cells[n].Value != nil && said[n] {
				kept = append(kept, n)
			}
		}
		return kept
	}
	add := func(how string, names []string, value func(i int) float64) {
		m := mutant{how, map[string]render.Cell{}}
		for i, n := range names {
			cell := sh.cells[n]
			if v := value(i); v != *cell.Value {
				cell.Value = &v
				m.cells[n] = cell
			}
		}
		if len(m.cells) > 0 {
			out = append(out, m)
		}
	}
	at := func(names []string, i int) float64 { return *sh.cells[names[i]].Value }
	shuffle := func(how string, names []string) {
		for seed := range uint64(3) {
			order := rand.New(rand.NewPCG(seed, 1)).Perm(len(names))
			add(how, names, func(i int) float64 { return at(names, order[i]) })
		}
	}
	for _, column := range sh.columns {
		column = numbers(column)
		sum := 0.0
		for i := range column {
			sum += at(column, i)
			for j := range i {
				add(hows[0], []string{column[j], column[i]}, func(k int) float64 { return at([]string{column[i], column[j]}, k) })
			}
		}
		if len(column) < 2 {
			continue
		}
		ascending := slices.Sorted(func(yield func(float64) bool) {
			for i := range column {
				if !yield(at(column, i)) {
					return
				}
			}
		})
		add(hows[1], column, func(i int) float64 { // the best is the worst
			rank, _ := slices.BinarySearch(ascending, at(column, i))
			return ascending[len(ascending)-1-rank]
		})
		shuffle(hows[2], column)
		add(hows[4], column, func(int) float64 { return sum / float64(len(column)) })
	}
	for _, row := range sh.rows {
		if row = numbers(row); len(row) > 1 {
			shuffle(hows[3], row)
		}
	}
	for _, n := range numbers(sh.signed) {
		add(hows[5], []string{n}, func(int) float64 { return -*sh.cells[n].Value })
	}
	var texts []string
	for _, n := range slices.Sorted(maps.Keys(sh.cells)) {
		cell := sh.cells[n]
		if cell.Std != nil {
			for i, std := range []float64{0, 3 * *cell.Std} {
				cell.Std = &std
				out = append(out, mutant{hows[6+i], map[string]render.Cell{n: cell}})
			}
		}
		if cell.Text != "" {
			texts = append(texts, n)
		}
	}
	for i, n := range texts {
		others := append(slices.Clone(texts[i:]), texts[:i]...)
		j := slices.IndexFunc(others, func(o string) bool { return sh.cells[o].Text != sh.cells[n].Text })
		other := render.Cell{Text: "another", Data: true}
		if j >= 0 {
			other.Text = sh.cells[others[j]].Text
		}
		out = append(out, mutant{hows[8], map[string]render.Cell{n: other}})
	}
	return out
}

// tally counts mutants: all, those that a number or text tells, those that claims alone
// tell, and the rest, within every tolerance; of these those that change which of two
// numbers of a column is greater.
type tally struct{ all, cells, claims, within, orders int }

func (a tally) plus(b tally) tally {
	return tally{a.all + b.all, a.cells + b.cells, a.claims + b.claims, a.within + b.within, a.orders + b.orders}
}

func (a tally) row() string {
	return fmt.Sprintf("%d | %d | %d | %d | %d", a.all, a.cells, a.claims, a.within, a.orders)
}

// reorders reports whether a mutant changes which of two numbers of a column is greater.
func (sh *sheet) reorders(cells map[string]render.Cell) bool {
	for _, column := range sh.columns {
		for i, a := range column {
			for _, b := range column[:i] {
				x, y, u, v := sh.cells[a].Value, sh.cells[b].Value, cells[a].Value, cells[b].Value
				if x != nil && y != nil && u != nil && v != nil && (*x-*y)*(*u-*v) <= 0 && math.Abs(*x-*y)+math.Abs(*u-*v) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// TestMutations: the paper's numbers match in every table and figure of pipelines.hcl and
// its claims hold, every claim can be broken, and how many wrong runs nothing notices is
// what docs/reproduction.md says.
func TestMutations(t *testing.T) {
	byHow := map[string]tally{}
	var total tally
	var b strings.Builder
	b.WriteString("| table or figure | mutants | told by cells | by claims alone | within tolerances | with other orders |\n|---|--:|--:|--:|--:|--:|\n")
	for _, sh := range sheets(t, filepath.Join("..", "..", "pipelines.hcl")) {
		var err error
		if sh.checks, err = sh.judge(sh.cells); err != nil {
			t.Fatalf("%s: %v", sh.address, err)
		}
		for _, c := range sh.checks {
			if c.Verdict != render.Matches && c.Verdict != render.Holds && c.Verdict != render.Shown {
				t.Errorf("%s with the paper's numbers: %s, %s", sh.address, c.Said(), c.Verdict)
			}
		}
		broken := make([]bool, len(sh.checks))
		var n tally
		for _, m := range sh.mutants() {
			cells := maps.Clone(sh.cells)
			maps.Copy(cells, m.cells)
			now, err := sh.judge(cells)
			if err != nil {
				t.Fatalf("%s: %v", sh.address, err)
			}
			one := tally{all: 1}
			for i, c := range now {
				broken[i] = broken[i] || c.Verdict == render.Broken
				switch {
				case c.Verdict == render.Differs:
					one.cells = 1
				case c.Verdict == render.Broken:
					one.claims = 1
				}
			}
			switch {
			case one.cells == 1:
				one.claims = 0
			case one.claims == 0:
				one.within = 1
				if sh.reorders(cells) {
					one.orders = 1
				}
			}
			n = n.plus(one)
			byHow[m.how] = byHow[m.how].plus(one)
		}
		for i, c := range sh.checks {
			if c.Form.Claim() && !broken[i] {
				t.Errorf("%s: no mutant breaks the claim %q (%s): it cannot fail", sh.address, c.Cell, c.Asked)
			}
		}
		total = total.plus(n)
		fmt.Fprintf(&b, "| `%s` | %s |\n", sh.address, n.row())
	}
	fmt.Fprintf(&b, "| **all** | %s |\n\n", total.row())
	b.WriteString("| mutant | mutants | told by cells | by claims alone | within tolerances | with other orders |\n|---|--:|--:|--:|--:|--:|\n")
	for _, how := range hows {
		fmt.Fprintf(&b, "| %s | %s |\n", how, byHow[how].row())
	}
	compareDoc(t, "mutations", b.String())
}
