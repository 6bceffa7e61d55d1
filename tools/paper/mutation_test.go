package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

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
	numbers := func(names []string) []string {
		return lists.Filter(names, func(n string) bool { return sh.cells[n].Value != nil && said[n] })
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
		ascending := lists.Map(lists.Places(len(column)), func(i int) float64 { return at(column, i) })
		slices.Sort(ascending)
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
// tell, those that are near, which fails nothing, and the rest, within every tolerance; of
// these two those that change which of two numbers of a column is greater.
type tally struct{ all, cells, claims, near, within, orders int }

func (a tally) plus(b tally) tally {
	return tally{a.all + b.all, a.cells + b.cells, a.claims + b.claims, a.near + b.near, a.within + b.within, a.orders + b.orders}
}

func (a tally) row() string {
	return fmt.Sprintf("%d | %d | %d | %d | %d | %d", a.all, a.cells, a.claims, a.near, a.within, a.orders)
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
// what docs/reproduction-tables.md says.
func TestMutations(t *testing.T) {
	byHow := map[string]tally{}
	var total tally
	var b strings.Builder
	b.WriteString("| table or figure | mutants | told by cells | by claims alone | near | within tolerances | with other orders |\n|---|--:|--:|--:|--:|--:|--:|\n")
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
			testkit.None(t, err, sh.address)
			one, met := tally{all: 1}, map[render.Verdict]bool{}
			for i, c := range now {
				broken[i] = broken[i] || c.Verdict == render.Broken
				met[c.Verdict] = true
			}
			reorders := func() int { return map[bool]int{true: 1}[sh.reorders(cells)] }
			switch {
			case met[render.Differs]:
				one.cells = 1
			case met[render.Broken]:
				one.claims = 1
			case met[render.IsNear]:
				one.near, one.orders = 1, reorders()
			default:
				one.within, one.orders = 1, reorders()
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
	b.WriteString("| mutant | mutants | told by cells | by claims alone | near | within tolerances | with other orders |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, how := range hows {
		fmt.Fprintf(&b, "| %s | %s |\n", how, byHow[how].row())
	}
	compareDoc(t, "mutations", b.String())
}
