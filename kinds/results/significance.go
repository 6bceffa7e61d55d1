package results

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// significance marks a table's cells by what a compare step says of them.
type significance struct {
	Report  step.Input        `hcl:"report" accepts:"compare/report" help:"report of a compare step"`
	Rows    map[string]string `hcl:"rows" help:"system that a row shows, by row id; other rows get no marks"`
	Columns map[string]string `hcl:"columns" help:"measure that a column shows, as the report names it (ndcg_10), by column id"`
	Letters map[string]string `hcl:"letters,added" help:"superscript of cells that differ significantly from a baseline, by the baseline's name; needed without bold"`
	Bold    bool              `hcl:"bold,added" help:"print bold also what does not differ significantly from the best, in columns with best and among rows with the same compare; of any two such systems one is a baseline of the compare step"`
}

// problems is what can be wrong before a run. A table without marks has none.
func (s *significance) problems(c tableConfig) (ps step.Problems) {
	if s == nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(s.Rows)) {
		there := slices.ContainsFunc(c.Rows, func(r tableRow) bool { return r.data() && r.ID == id })
		inout.Check(&ps, "significance.rows", there, "there is no row %q", id)
	}
	for _, id := range slices.Sorted(maps.Keys(s.Columns)) {
		inout.Check(&ps, "significance.columns", c.hasColumn(id), "there is no column %q", id)
	}
	const letters = "significance.letters"
	inout.Check(&ps, "significance.rows", len(s.Rows) > 0, "needs at least one")
	inout.Check(&ps, "significance.columns", len(s.Columns) > 0, "needs at least one")
	inout.Check(&ps, letters, len(s.Letters) > 0 || s.Bold, "needs at least one, without bold")
	inout.Check(&ps, "significance.bold", !s.Bold || len(s.ranked(c)) > 0, "none of its columns has best")
	bad, taken := inout.Adding(&ps), map[string]string{}
	for _, b := range s.baselines() {
		letter := s.Letters[b]
		switch {
		case checkMark(letter) != nil:
			bad(letters, "%s: %v", b, checkMark(letter))
		case taken[letter] != "":
			bad(letters, "%s and %s have the same superscript %q", taken[letter], b, letter)
		}
		taken[letter] = b
		inout.CheckError(&ps, letters, render.CheckMarkup(b))
	}
	return ps
}

// checkMark refuses what no superscript can be.
func checkMark(s string) error {
	if s == "" || strings.ContainsAny(s, "<> \t\n") {
		return fmt.Errorf("%q cannot be a superscript: give a letter or a sign", s)
	}
	return nil
}

// ranked are the columns that bold is for.
func (s *significance) ranked(c tableConfig) []tableColumn {
	return lists.Filter(c.Columns, func(k tableColumn) bool { return k.Best != "" && s.Columns[k.ID] != "" })
}

// baselines in the order of their letters.
func (s *significance) baselines() []string {
	return slices.SortedFunc(maps.Keys(s.Letters), func(a, b string) int {
		return strings.Compare(s.Letters[a]+"\x00"+a, s.Letters[b]+"\x00"+b)
	})
}

// reads are the fields that marks come from: each system, measure and baseline once.
func (s *significance) reads(c tableConfig) (list []step.Read) {
	if s == nil {
		return nil
	}
	read := func(attr, path string) {
		list = append(list, step.Read{Attr: attr, Input: s.Report, Path: path})
	}
	rows := slices.Sorted(maps.Keys(s.Rows))
	for _, row := range rows {
		read("significance.rows["+strconv.Quote(row)+"]", step.PathOf("systems", s.Rows[row]))
	}
	for _, column := range slices.Sorted(maps.Keys(s.Columns)) {
		if len(rows) > 0 {
			read("significance.columns["+strconv.Quote(column)+"]", step.PathOf("systems", s.Rows[rows[0]], "percent", s.Columns[column]))
		}
	}
	for _, b := range s.baselines() {
		for _, row := range rows {
			if s.Rows[row] != b {
				read("significance.letters", step.PathOf("systems", s.Rows[row], "against", b))
				break
			}
		}
	}
	if s.Bold {
		list = append(list, step.Read{Attr: "significance.bold", Input: s.Report, Path: "systems", Check: func(f *step.Fields) error { return s.compared(f, c) }})
	}
	return list
}

// compared reports two systems of rows with the same compare whose difference the report has not.
func (s *significance) compared(systems *step.Fields, c tableConfig) error {
	for i, a := range c.Rows {
		for _, b := range c.Rows[:i] {
			x, y := s.Rows[a.ID], s.Rows[b.ID]
			if x == "" || y == "" || x == y || a.Compare != b.Compare {
				continue
			}
			_, err := systems.At(step.PathOf(x, "against", y))
			if _, turned := systems.At(step.PathOf(y, "against", x)); err != nil && turned != nil {
				return fmt.Errorf("does not compare %s with %s: name one of them in baselines of the compare step", y, x)
			}
		}
	}
	return nil
}

// differs reports whether two systems differ significantly in a measure.
func (s *significance) differs(docs cells, a, b, measure string) (bool, error) {
	at, err := docs.Find(s.Report, step.PathOf("systems", a, "against", b, measure, "significant"))
	if err != nil {
		return false, err
	}
	is, ok := at.(bool)
	if !ok {
		return false, fmt.Errorf("%v is neither true nor false", at)
	}
	return is, nil
}

// embolden prints bold what does not differ significantly from the best that is of a system.
func (s *significance) embolden(docs cells, t *render.Table, c tableConfig) error {
	for _, k := range s.ranked(c) {
		best := t.Best(render.Column{ID: k.ID, Best: k.Best}, false)
		for i, row := range t.Rows {
			cell := row.Cells[k.ID]
			at, ok := best[row.Compare]
			if !ok || cell.Value == nil {
				continue
			}
			top, system := s.Rows[t.Rows[at].ID], s.Rows[row.ID]
			if top == "" || system == "" || top == system {
				continue
			}
			is, err := s.differs(docs, system, top, s.Columns[k.ID])
			if err != nil {
				is, err = s.differs(docs, top, system, s.Columns[k.ID])
			}
			if err != nil {
				return fmt.Errorf("significance of row %s, column %s: %w", row.ID, k.ID, err)
			}
			cell.Bold = cell.Bold || !is
			t.Rows[i].Cells[k.ID] = cell
		}
	}
	return nil
}

// mark sets the cells' superscripts and says in the caption what they mean.
func (s *significance) mark(docs cells, t *render.Table, c tableConfig) error {
	if s == nil {
		return nil
	}
	for i, row := range t.Rows {
		system, ok := s.Rows[row.ID]
		if !ok || row.Cells == nil {
			continue
		}
		for id, measure := range s.Columns {
			cell, ok := row.Cells[id]
			if !ok || cell.Value == nil {
				continue
			}
			for _, b := range s.baselines() {
				if b == system {
					continue
				}
				is, err := s.differs(docs, system, b, measure)
				if err != nil {
					return fmt.Errorf("significance of row %s, column %s: %w", row.ID, id, err)
				}
				if is {
					cell.Marks += s.Letters[b]
				}
			}
			cell.Inputs = append(slices.Clip(cell.Inputs), s.Report.Artifact.Digest.String())
			t.Rows[i].Cells[id] = cell
		}
	}
	if s.Bold {
		if err := s.embolden(docs, t, c); err != nil {
			return err
		}
	}
	note, err := s.note(docs, c)
	if err != nil {
		return err
	}
	t.Caption = strings.TrimSpace(t.Caption + " " + note)
	return nil
}

// note is what the marks mean, in a sentence.
func (s *significance) note(docs cells, c tableConfig) (string, error) {
	method, err := docs.Find(s.Report, "method")
	if err != nil {
		return "", err
	}
	alpha, err := docs.Number(s.Report, "alpha")
	if err != nil {
		return "", err
	}
	var list []string
	for i, b := range s.baselines() {
		differs := "from "
		if i == 0 {
			differs = "differs significantly from "
		}
		list = append(list, fmt.Sprintf("<sup>%s</sup> %s%s", s.Letters[b], differs, s.title(b, c)))
	}
	switch {
	case s.Bold && len(list) > 0:
		list = append(list, "bold does not from the best")
	case s.Bold:
		list = append(list, "Bold does not differ significantly from the best")
	}
	return fmt.Sprintf("%s (%v, alpha %s).", strings.Join(list, ", "), method, strconv.FormatFloat(alpha, 'g', -1, 64)), nil
}

// title is what the table calls a baseline: the last title of its row.
func (s *significance) title(baseline string, c tableConfig) string {
	for _, r := range c.Rows {
		if r.data() && s.Rows[r.ID] == baseline && len(r.Titles) > 0 {
			if title := r.Titles[len(r.Titles)-1]; title != "" {
				return title
			}
		}
	}
	return baseline
}
