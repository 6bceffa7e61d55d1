package nq

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf16"

	"github.com/redsi/redsi/internal/corpora/columns"
)

// hubKinds are the columns that a line is made of; those but the first may be missing in files of earlier revisions.
var hubKinds = func() map[string]columns.Kind {
	kinds := map[string]columns.Kind{"question.tokens": columns.Texts, "long_answer_candidates.top_level": columns.Bools,
		"annotations.id": columns.Texts, "annotations.yes_no_answer": columns.Ints, "annotations.long_answer.candidate_index": columns.Ints}
	for _, c := range hubColumns {
		kinds[c.name] = c.kind
	}
	for _, prefix := range []string{"long_answer_candidates.", "annotations.long_answer.", "annotations.short_answers."} {
		for _, name := range []string{nameEnd, "end_token", nameStart, "start_token"} {
			kinds[prefix+name] = columns.Ints
		}
	}
	return kinds
}()

// yesNo are the names of yes_no_answer, whose class labels begin with -1.
var yesNo = []string{"NONE", "NO", "YES"}

// HubLines visits the rows of a Parquet file, as NewHubReader reads it, as lines of the original format: of the columns that the
// file has the same bytes. Rows are counted from one.
func HubLines(in io.ReaderAt, size int64, visit func(n int, line []byte) (more bool, err error)) error {
	f, err := columns.Open(in, size)
	if err != nil {
		return err
	}
	var wanted []columns.Wanted
	for at, name := range f.Names() {
		if kind, ok := hubKinds[name]; ok {
			wanted = append(wanted, columns.Wanted{At: at, Kind: kind})
		}
	}
	rows, err := f.Read(wanted)
	if err != nil {
		return err
	}
	defer rows.Close()
	l := hubLine{of: map[string]*columns.Column{}}
	for _, c := range rows.Columns() {
		l.of[c.Name] = c
	}
	for {
		if err := rows.Next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := l.write(); err != nil {
			return fmt.Errorf("row %d: %w", rows.Row(), err)
		}
		if more, err := visit(int(rows.Row()), l.b); err != nil || !more {
			return err
		}
	}
}

// hubLine is a line of the present row.
type hubLine struct {
	of  map[string]*columns.Column
	b   []byte
	err error // the first
}

// part is a field of an object: its name and the column of its values.
type part struct{ name, column string }

func (l *hubLine) write() error {
	l.b, l.err = append(l.b[:0], '{'), nil
	if id := l.of["annotations.id"]; id != nil {
		l.key("annotations")
		short, groups := l.parts("annotations.short_answers."), map[string][]int{}
		for _, p := range short {
			groups[p.column] = grouped(l.of[p.column])
		}
		l.list(id.Len(), func(i int) {
			l.b = append(l.b, '{')
			l.key("annotation_id").value(id, i)
			if long := l.parts("annotations.long_answer."); len(long) > 0 {
				l.key("long_answer").object(long, i)
			}
			if len(short) > 0 {
				l.key("short_answers")
				ends := groups[short[0].column]
				l.list(ends[i+1]-ends[i], func(k int) { l.object(short, ends[i]+k) })
			}
			if c := l.of["annotations.yes_no_answer"]; c != nil {
				if n := l.int(c, i) + 1; n >= 0 && n < int64(len(yesNo)) {
					l.key("yes_no_answer").quote(yesNo[n])
				} else {
					l.fail("column %s is %d, not a class label", c.Name, n-1)
				}
			}
			l.b = append(l.b, '}')
		})
	}
	l.texts("document_html", "document.html")
	l.texts("document_title", "document.title")
	l.objects(nameTokens, []part{{nameEnd, "document.tokens.end_byte"}, {nameHTMLToken, "document.tokens.is_html"}, {nameStart, "document.tokens.start_byte"}, {nameToken, "document.tokens.token"}})
	l.texts("document_url", "document.url")
	if id := l.of["id"]; id != nil {
		l.key(nameExampleID).value(id, 0)
	}
	l.objects("long_answer_candidates", l.parts("long_answer_candidates."))
	l.texts("question_text", "question.text")
	if c := l.of["question.tokens"]; c != nil {
		l.key("question_tokens").list(c.Len(), func(i int) { l.quote(text(c, i)) })
	}
	l.b = append(l.b, '}')
	return l.err
}

func (l *hubLine) fail(format string, args ...any) {
	if l.err == nil {
		l.err = faultf(BadType, format, args...)
	}
}

// parts are the fields of objects, of the columns that are there.
func (l *hubLine) parts(prefix string) (parts []part) {
	for _, name := range []string{"candidate_index", nameEnd, "end_token", nameStart, "start_token", "top_level"} {
		parts = append(parts, part{name, prefix + name})
	}
	return slices.DeleteFunc(parts, func(p part) bool { return l.of[p.column] == nil })
}

// grouped has where the values of each list begin in a column of lists of lists, and where the last ends.
func grouped(c *columns.Column) (ends []int) {
	n := 0
	for i, rep := range c.Reps {
		if rep < 2 {
			ends = append(ends, n)
		}
		if c.Defs[i] == c.Full {
			n++
		}
	}
	return append(ends, n)
}

func text(c *columns.Column, i int) string {
	from := 0
	if i > 0 {
		from = c.Ends[i-1]
	}
	return string(c.Text[from:c.Ends[i]])
}

func (l *hubLine) int(c *columns.Column, i int) int64 {
	if i >= c.Len() {
		l.fail("column %s has %d values, fewer than its neighbours", c.Name, c.Len())
		return -1
	}
	return c.Ints[i]
}

// key begins a field, and value ends it.
func (l *hubLine) key(name string) *hubLine {
	if l.b[len(l.b)-1] != '{' {
		l.b = append(l.b, ", "...)
	}
	l.quote(name)
	l.b = append(l.b, ": "...)
	return l
}

// value writes a number, also of a text: an id.
func (l *hubLine) value(c *columns.Column, i int) {
	if i >= c.Len() {
		l.fail("column %s has %d values, fewer than its neighbours", c.Name, c.Len())
		return
	}
	switch {
	case c.Ints != nil:
		l.b = strconv.AppendInt(l.b, c.Ints[i], 10)
	case c.Bools != nil:
		l.b = strconv.AppendBool(l.b, c.Bools[i])
	default:
		l.b = append(l.b, text(c, i)...)
	}
}

func (l *hubLine) list(n int, item func(i int)) {
	l.b = append(l.b, '[')
	for i := range n {
		if i > 0 {
			l.b = append(l.b, ", "...)
		}
		item(i)
	}
	l.b = append(l.b, ']')
}

func (l *hubLine) object(parts []part, i int) {
	l.b = append(l.b, '{')
	for _, p := range parts {
		if l.key(p.name); p.name == nameToken {
			l.quote(text(l.of[p.column], i))
			continue
		}
		l.value(l.of[p.column], i)
	}
	l.b = append(l.b, '}')
}

// objects writes a list of objects, of columns of lists.
func (l *hubLine) objects(name string, parts []part) {
	parts = slices.DeleteFunc(parts, func(p part) bool { return l.of[p.column] == nil })
	if len(parts) > 0 {
		l.key(name).list(l.of[parts[0].column].Len(), func(i int) { l.object(parts, i) })
	}
}

// texts writes a text, unless it is missing or null.
func (l *hubLine) texts(name, column string) {
	if c := l.of[column]; c != nil && c.Len() > 0 {
		l.key(name).quote(text(c, 0))
	}
}

// quote writes a string as Google's files have it: in ASCII.
func (l *hubLine) quote(s string) {
	l.b = append(l.b, '"')
	for _, r := range s {
		switch short := map[rune]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f'}[r]; {
		case short != 0:
			l.b = append(l.b, '\\', short)
		case ' ' <= r && r <= '~':
			l.b = append(l.b, byte(r))
		default:
			for _, u := range utf16.AppendRune(nil, r) {
				l.b = fmt.Appendf(l.b, `\u%04x`, u)
			}
		}
	}
	l.b = append(l.b, '"')
}
