package render

import (
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/system/lists"
)

// Markdown writes the table as a pipe table that people can read, with the caption above and notes below.
func (t *Table) Markdown(w io.Writer) error {
	head := t.heads(markdown)
	rows := [][]string{head}
	for _, r := range t.Rows {
		switch {
		case r.Section != "":
			row := make([]string, len(head))
			row[0] = markdown(r.Section)
			rows = append(rows, row)
		case r.Titles != nil:
			row := lists.Map(r.Titles, markdown)
			for _, c := range t.Columns {
				row = append(row, r.Cells[c.ID].markdown(c.Format))
			}
			rows = append(rows, row)
		}
	}
	var b strings.Builder
	if t.Caption != "" {
		fmt.Fprintf(&b, "%s\n\n", paragraph(markdown(t.Caption)))
	}
	t.pipes(&b, rows)
	t.markdownNotes(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// block matches what turns a paragraph into a heading, a list or code.
var block = regexp.MustCompile(`^(?:[-+#~=]|[0-9]+[.)])`)

// paragraph keeps a line of Markdown from beginning as something else.
func paragraph(s string) string {
	s = strings.TrimSpace(s)
	if m := block.FindString(s); m != "" {
		return m[:len(m)-1] + "\\" + s[len(m)-1:]
	}
	return s
}

// heads returns the column headers with their groups: "Atomic: H@1".
func (t *Table) heads(style func(string) string) []string {
	head := lists.Map(t.Stubs, style)
	for _, c := range t.Columns {
		parts := lists.Filter(append(slices.Clip(c.Groups), c.Title), func(g string) bool { return g != "" })
		head = append(head, strings.Join(lists.Map(parts, style), ": "))
	}
	return head
}

func (t *Table) pipes(b *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c), 3)
		}
	}
	right, dashes := make([]bool, len(width)), make([]string, len(width))
	for i := range width {
		dashes[i] = strings.Repeat("-", width[i])
		if right[i] = i >= len(t.Stubs) && t.Columns[i-len(t.Stubs)].align() == "r"; right[i] {
			dashes[i] = dashes[i][1:] + ":"
		}
	}
	for _, r := range slices.Insert(rows, 1, dashes) {
		for i, c := range r {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if right[i] {
				c, pad = pad+c, ""
			}
			b.WriteString("| " + c + pad + " ")
		}
		b.WriteString("|\n")
	}
}

// csvWriter writes lines of CSV, on request with quoted formulas.
type csvWriter struct {
	*csv.Writer
	quote bool
}

// text returns a cell's text, not a number, with an apostrophe before what a spreadsheet would take for a formula.
func (c csvWriter) text(s string) string {
	if c.quote && s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return "'" + s
	}
	return s
}

// texts writes a line that has no numbers.
func (c csvWriter) texts(line []string) error { return c.Write(lists.Map(line, c.text)) }

// CSV writes a line per row, with values that are not rounded; deviations and counts have columns of their own.
func (t *Table) CSV(w io.Writer) error {
	c := csvWriter{csv.NewWriter(w), t.QuoteFormulas}
	head := t.heads(Plain)
	withStd := make([]bool, len(t.Columns))
	line := slices.Clone(head[:len(t.Stubs)])
	for i, col := range t.Columns {
		withStd[i] = slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[col.ID].Std != nil })
		name := head[len(t.Stubs)+i]
		line = append(line, name)
		if withStd[i] {
			line = append(line, name+" std", name+" n")
		}
	}
	if err := c.texts(line); err != nil {
		return err
	}
	for _, r := range t.Rows {
		if r.Titles == nil {
			continue
		}
		line = lists.Map(r.Titles, func(title string) string { return c.text(Plain(title)) })
		for i, col := range t.Columns {
			line = append(line, r.Cells[col.ID].csv(withStd[i], c.text)...)
		}
		if err := c.Write(line); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

func (c Cell) csv(withStd bool, text func(string) string) []string {
	value := c.Text
	if !c.Data {
		value = Plain(value)
	}
	value = text(value)
	if c.Value != nil {
		value = c.digits(Format{Style: "text"})
	}
	if !withStd {
		return []string{value}
	}
	if c.Std == nil {
		return []string{value, "", fmt.Sprint(c.N)}
	}
	return []string{value, Format{Style: "text"}.digits(*c.Std), fmt.Sprint(c.N)}
}

// JSON writes the table with the values and inputs of each cell.
func (t *Table) JSON(w io.Writer) error { return writeJSON(w, t) }

// markdownNotes writes the table's notes, the reasons of empty cells, each once, and which deviations are none.
func (t *Table) markdownNotes(b *strings.Builder) {
	notes := lists.Map(t.Notes, func(text string) string { return paragraph(markdown(text)) })
	for _, r := range t.Rows {
		for _, c := range t.Columns {
			if why := r.Cells[c.ID].Absent; why != "" {
				notes = append(notes, AbsentText+": "+markdown(why))
			}
		}
	}
	if text := t.OfOne(); text != "" {
		notes = append(notes, MarkdownText(text))
	}
	if notes != nil {
		b.WriteString("\n- " + strings.Join(lists.Unique(notes), "\n- ") + "\n")
	}
}
