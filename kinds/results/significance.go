package results

import (
	"cmp"
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

// check adds what is wrong before a run; nil is a table without marks.
func (s *significance) check(ps *step.Problems, c tableConfig) {
	if s == nil {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(s.Rows)) {
		inout.Check(ps, "significance.rows", slices.ContainsFunc(c.Rows, func(r tableRow) bool { return r.data() && r.ID == id }), "there is no row %q", id)
	}
	for _, id := range slices.Sorted(maps.Keys(s.Columns)) {
		inout.Check(ps, "significance.columns", c.hasColumn(id), "there is no column %q", id)
	}
	const letters = "significance.letters"
	inout.Check(ps, "significance.rows", len(s.Rows) > 0, "needs at least one")
	inout.Check(ps, "significance.columns", len(s.Columns) > 0, "needs at least one")
	inout.Check(ps, letters, len(s.Letters) > 0 || s.Bold, "needs at least one, without bold")
	inout.Check(ps, "significance.bold", !s.Bold || len(s.ranked(c)) > 0, "none of its columns has best")
	taken := map[string]string{}
	for _, b := range s.baselines() {
		letter := s.Letters[b]
		switch {
		case checkMark(letter) != nil:
			inout.Add(ps, letters, "%s: %v", b, checkMark(letter))
		case taken[letter] != "":
			inout.Add(ps, letters, "%s and %s have the same superscript %q", taken[letter], b, letter)
		}
		taken[letter] = b
		inout.CheckError(ps, letters, render.CheckMarkup(b))
	}
}

// checkMark refuses a text that cannot be a superscript.
func checkMark(s string) error {
	if s == "" || strings.ContainsAny(s, "<> \t\n") {
		return fmt.Errorf("%q cannot be a superscript: give a letter or a sign", s)
	}
	return nil
}

// ranked returns the columns that bold marks; none without bold.
func (s *significance) ranked(c tableConfig) []tableColumn {
	return lists.Filter(c.Columns, func(k tableColumn) bool { return s.Bold && k.Best != "" && s.Columns[k.ID] != "" })
}

// baselines returns the baselines in the order of their letters.
func (s *significance) baselines() []string {
	return slices.SortedFunc(maps.Keys(s.Letters), func(a, b string) int {
		return strings.Compare(s.Letters[a]+"\x00"+a, s.Letters[b]+"\x00"+b)
	})
}

// reads returns the fields that marks come from: each system, measure and baseline once.
func (s *significance) reads(c tableConfig) (list []step.Read) {
	if s == nil {
		return nil
	}
	read := func(attr string, path ...string) {
		list = append(list, step.Read{Attr: "significance." + attr, Input: s.Report, Path: step.PathOf(append([]string{"systems"}, path...)...)})
	}
	rows := slices.Sorted(maps.Keys(s.Rows))
	for _, row := range rows {
		read("rows["+strconv.Quote(row)+"]", s.Rows[row])
	}
	for _, column := range slices.Sorted(maps.Keys(s.Columns)) {
		if len(rows) > 0 {
			read("columns["+strconv.Quote(column)+"]", s.Rows[rows[0]], "percent", s.Columns[column])
		}
	}
	for _, b := range s.baselines() {
		if i := slices.IndexFunc(rows, func(row string) bool { return s.Rows[row] != b }); i >= 0 {
			read("letters", s.Rows[rows[i]], "against", b)
		}
	}
	if s.Bold {
		list = append(list, step.Read{Attr: "significance.bold", Input: s.Report, Path: "systems", Check: func(f *step.Fields) error { return s.compared(f, c) }})
	}
	return list
}

// compared reports two systems that the report does not compare, though their rows have the same compare.
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

// judge sets a cell's superscripts, and bold unless best is "" or its system differs significantly from the best one.
func (s *significance) judge(docs cells, cell *render.Cell, system, best, measure string) error {
	for _, b := range s.baselines() {
		if b == system {
			continue
		}
		is, err := s.differs(docs, system, b, measure)
		if err != nil {
			return err
		}
		if is {
			cell.Marks += s.Letters[b]
		}
	}
	if best == "" || best == system {
		return nil
	}
	is, err := s.differs(docs, system, best, measure)
	if err != nil {
		is, err = s.differs(docs, best, system, measure)
	}
	cell.Bold = cell.Bold || !is
	return err
}

// mark judges the cells, and adds the meaning of their marks to the caption.
func (s *significance) mark(docs cells, t *render.Table, c tableConfig) error {
	if s == nil {
		return nil
	}
	best := map[string]map[string]int{}
	for _, k := range s.ranked(c) {
		best[k.ID] = t.Best(render.Column{ID: k.ID, Best: k.Best}, false)
	}
	for _, row := range t.Rows {
		for id, measure := range s.Columns {
			cell, system, top := row.Cells[id], s.Rows[row.ID], ""
			if cell.Value == nil || system == "" {
				continue
			}
			if at, ok := best[id][row.Compare]; ok {
				top = s.Rows[t.Rows[at].ID]
			}
			if err := s.judge(docs, &cell, system, top, measure); err != nil {
				return fmt.Errorf("significance of row %s, column %s: %w", row.ID, id, err)
			}
			cell.Inputs = append(slices.Clip(cell.Inputs), s.Report.Artifact.Digest.String())
			row.Cells[id] = cell
		}
	}
	note, err := s.note(docs, c)
	t.Caption = strings.TrimSpace(t.Caption + " " + note)
	return err
}

func (s *significance) note(docs cells, c tableConfig) (string, error) {
	method, err := docs.Find(s.Report, "method")
	alpha, errAlpha := docs.Number(s.Report, "alpha")
	if err = cmp.Or(err, errAlpha); err != nil {
		return "", err
	}
	var list []string
	differs := "differs significantly from"
	for _, b := range s.baselines() {
		list = append(list, fmt.Sprintf("<sup>%s</sup> %s %s", s.Letters[b], differs, s.title(b, c)))
		differs = "from"
	}
	switch {
	case s.Bold && len(list) > 0:
		list = append(list, "bold does not from the best")
	case s.Bold:
		list = append(list, "Bold does not differ significantly from the best")
	}
	return fmt.Sprintf("%s (%v, alpha %s).", strings.Join(list, ", "), method, strconv.FormatFloat(alpha, 'g', -1, 64)), nil
}

// title returns the table's name for a baseline: the last title of its row.
func (s *significance) title(baseline string, c tableConfig) string {
	for _, r := range c.Rows {
		if n := len(r.Titles); r.data() && s.Rows[r.ID] == baseline && n > 0 && r.Titles[n-1] != "" {
			return r.Titles[n-1]
		}
	}
	return baseline
}
