package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/tools/latex"
)

// source is the paper.
type source struct {
	text   string // with its files where they are read, without comments
	words  string // of the text, in the form of words
	tables []latex.Table
	works  []string // keys of what it cites
}

func readPaper(path string) (*source, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &source{text: ownMarks.ReplaceAllString(latex.Expand(string(b)), "<$1>")}
	s.words = texWords(s.text)
	if s.tables, err = latex.Tables(s.text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, m := range cites.FindAllStringSubmatch(s.text, -1) {
		s.works = append(s.works, strings.Split(m[1], ",")...)
	}
	return s, nil
}

// ownMarks are the paper's own commands that stand for a text, with the blanks that LaTeX takes for their end.
var ownMarks = regexp.MustCompile(`\\(unk)\b[ \t]*`)

type result struct {
	name, note string
	numbers    int // expected numbers that the paper prints
	texts      int // expected texts that it prints
	claims     int // claims whose sentences it has
	problems   []string
}

func (r *result) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// compare goes through the paper's tables, then through what is left of the pipeline's expectations.
func (s *source) compare(blocks []block) []result {
	var out []result
	var done []string
	for _, t := range s.tables {
		i := slices.IndexFunc(blocks, func(b block) bool { return !b.Figure && b.Paper == t.Label && b.is(t.Label) })
		if i < 0 {
			out = append(out, result{name: t.Label, problems: []string{"the pipeline has no table with this label and name"}})
			continue
		}
		done = append(done, blocks[i].address())
		out = append(out, s.compareTable(t, blocks[i]))
	}
	for _, b := range blocks {
		if slices.Contains(done, b.address()) || len(b.Expect) == 0 {
			continue
		}
		compare := s.compareText
		if b.Figure {
			compare = s.compareFigure
		}
		out = append(out, compare(b))
	}
	return out
}

// compareTable compares cell by cell. If the pipeline lays the table out in other rows, such as a cell of two lines as
// two rows, it compares the header, and what is expected must stand somewhere in the paper's rows.
func (s *source) compareTable(t latex.Table, b block) result {
	r := result{name: t.Label}
	rows := b.titled()
	first := len(b.Stubs)
	if t.Columns == len(b.Columns) {
		first = 0 // the paper has no titles
	}
	if t.Columns != first+len(b.Columns) {
		r.problem("the paper has %d columns, the pipeline %d", t.Columns, first+len(b.Columns))
		return r
	}
	printed, err := b.printed(rows)
	if err != nil {
		r.problem("%v", err)
		return r
	}
	if len(t.Rows) != len(rows) {
		r.otherRows(s, t, b, printed, first)
		return r
	}
	r.heads(s, t, printed, first)
	expected := map[string]bool{}
	for _, e := range append(b.numbers(), b.texts()...) {
		expected[e.Cell] = true
	}
	for i, row := range t.Rows {
		for _, c := range row {
			if c.First <= first {
				r.title(rows[i], c)
				continue
			}
			for _, column := range b.Columns[c.First-first-1 : c.Last-first] {
				name := rows[i].ID + "." + column.ID
				_, isConstant := rows[i].Numbers[column.ID]
				r.cell(name, c, printed.Rows[i].Cells[column.ID], expected[name], isConstant || rows[i].Texts[column.ID] != "")
			}
		}
	}
	constants := 0
	for _, row := range rows {
		constants += len(row.Numbers)
	}
	r.note = fmt.Sprintf(", %d constants", constants)
	if n := len(b.numbers()) + stds(b.numbers()); n != r.numbers && len(r.problems) == 0 {
		r.problem("%d numbers are expected, the paper prints %d of them", n, r.numbers)
	}
	if n := len(b.texts()); n != r.texts && len(r.problems) == 0 {
		r.problem("%d texts are expected, the paper prints %d of them", n, r.texts)
	}
	return r
}

// otherRows compares a table that has other rows than the paper's. If it has no header, its first rows are the paper's
// header.
func (r *result) otherRows(s *source, t latex.Table, b block, ours *render.Table, first int) {
	var cells []string
	headed := slices.ContainsFunc(ours.Columns, func(c render.Column) bool { return c.Title != "" })
	if headed {
		r.heads(s, t, ours, first)
	} else { // its first rows
		for i, cell := range t.Header {
			if i%t.Columns >= first {
				cells = append(cells, cell)
			}
		}
	}
	for _, row := range t.Rows {
		for _, c := range row {
			if c.First > first {
				cells = append(cells, c.Text)
			}
		}
	}
	told := map[string]bool{}
	find := func(e render.Expectation, what string, n *int, says func(cell string) bool) {
		found := false
		for _, cell := range cells {
			if says(cell) {
				told[cell], found = true, true
			}
		}
		if !found {
			r.problem("%s: the paper's table does not print %s", e.Cell, what)
			return
		}
		*n++
	}
	for _, e := range b.numbers() {
		find(e, forms(*e.Value)[0], &r.numbers, func(cell string) bool { return says(characters(cell), *e.Value) })
	}
	for _, e := range b.texts() {
		find(e, strconv.Quote(e.Text), &r.texts, func(cell string) bool { return inOrder(texText(cell), pieces(e.Text), strings.TrimSpace) })
	}
	for _, c := range cells {
		if len(b.Expect) > 0 && texWords(c) != "" && !told[c] {
			r.problem("the paper prints %q, the pipeline expects nothing", texText(c))
		}
	}
	r.note = ", laid out in other rows"
}

func stds(es []render.Expectation) int {
	return lists.Count(es, func(e render.Expectation) bool { return e.Std != nil })
}

func (r *result) cell(name string, c latex.Cell, ours render.Cell, expected, constant bool) {
	n, isNumber := readNumber(c.Text)
	switch {
	case expected && ours.Value == nil:
		if !render.SameText(ours.Text, texText(c.Text)) {
			r.problem("%s: the pipeline expects %q, the paper prints %q", name, ours.Text, texText(c.Text))
			return
		}
		r.texts++
	case expected && !isNumber:
		r.problem("%s: the pipeline expects %v, the paper prints %q", name, *ours.Value, latex.Plain(c.Text))
	case expected:
		if same(*ours.Value, n.value) {
			r.numbers++
		} else {
			r.problem("%s: the pipeline expects %v, the paper prints %v", name, *ours.Value, n.value)
		}
		switch {
		case (ours.Std == nil) != (n.std == nil) || n.std != nil && !same(*ours.Std, *n.std):
			r.problem("%s: another standard deviation than in the paper", name)
		case n.std != nil:
			r.numbers++
		}
	case constant && ours.Value != nil:
		if !isNumber || !same(*ours.Value, n.value) {
			r.problem("%s: the constant is %v, the paper prints %q", name, *ours.Value, latex.Plain(c.Text))
		}
	case constant:
		if texWords(c.Text) != markupWords(ours.Text) {
			r.problem("%s: the constant is %q, the paper prints %q", name, ours.Text, latex.Plain(c.Text))
		}
	case isNumber:
		r.problem("%s: the paper prints %v, the pipeline expects nothing", name, latex.Plain(c.Text))
	case texWords(c.Text) != "":
		r.problem("%s: the paper prints %q, the pipeline expects nothing", name, texText(c.Text))
	}
	if bold := latex.Bold(c.Text); bold != (ours.Bold || strings.Contains(ours.Text, "<b>")) {
		r.problem("%s: bold in the paper: %v", name, bold)
	}
}

var (
	cites = regexp.MustCompile(`\\cite\w*(?:\[[^]]*\])*\{([^}]*)\}`)
	cited = regexp.MustCompile(`^\s*\\cite\w*\{([^}]*)\}\s*$`)
)

// title compares the title of a row. A row of a cited work has its key as id.
func (r *result) title(ours row, c latex.Cell) {
	if c.First > len(ours.Titles) {
		return
	}
	if m := cited.FindStringSubmatch(c.Text); m != nil {
		if ours.ID != m[1] {
			r.problem("the paper has a row of %s where the pipeline has %s", m[1], ours.ID)
		}
		return
	}
	p, o := texWords(c.Text), markupWords(ours.Titles[c.First-1])
	if p != "" && p != o {
		r.problem("row %s: the paper's title is %q, not %q", ours.ID, latex.Plain(c.Text), render.Plain(ours.Titles[c.First-1]))
	}
}

// heads compares headers that have words and are not citations.
func (r *result) heads(s *source, t latex.Table, ours *render.Table, first int) {
	var groups []string
	for _, level := range ours.HeadRows() {
		for _, s := range level {
			if s.Title != "" {
				groups = append(groups, markupWords(s.Title))
			}
		}
	}
	theirs := lists.Map(t.Groups, func(g latex.Group) string { return texWords(g.Title) })
	if !slices.Equal(groups, theirs) {
		r.problem("header groups: the paper has %q, the pipeline %q", theirs, groups)
	}
	var titles []string
	if first > 0 {
		titles = slices.Clone(ours.Stubs)
	}
	titles = append(titles, lists.Map(ours.Columns, func(c render.Column) string { return c.Title })...)
	at := 0
	for _, h := range t.Header {
		if texWords(h) == "" || slices.Contains(s.works, h) {
			continue
		}
		i := slices.IndexFunc(titles[at:], func(title string) bool { return markupWords(title) == texWords(h) })
		if i < 0 {
			r.problem("header: the paper has %q, which the pipeline lacks or has in another order", h)
			return
		}
		at += i + 1
	}
}

// compareText looks for numbers in sentences, or in a table of which the pipeline has a part.
func (s *source) compareText(b block) result {
	r := result{name: b.address(), note: " of the text (" + b.Paper + ")"}
	for _, e := range b.numbers() {
		if !says(s.text, *e.Value) {
			r.problem("%s: the paper does not print %s", e.Cell, forms(*e.Value)[0])
			continue
		}
		r.numbers++
	}
	for _, e := range b.texts() {
		if !s.says(e.Text) {
			r.problem("%s: the paper does not print %q", e.Cell, e.Text)
			continue
		}
		r.texts++
	}
	return r
}
