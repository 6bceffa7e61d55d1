package trec

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/values"
)

// Row is a line of a run or of judgments, with the file's names.
type Row struct {
	Query, Document string
	Rank            int     // of a run; 0 where the format has none
	Score           float64 // of a run; -Rank where the format has none
	Grade           int     // of judgments
	Line            int
}

type Format string

const (
	Auto    Format = ""        // recognised by the first line
	TREC    Format = "trec"    // query Q0 document rank score tag; query 0 document grade
	MSMarco Format = "msmarco" // query document rank
	BEIR    Format = "beir"    // query, document, grade with tabs between them, after a header
	JSON    Format = "json"    // {query: {document: score or grade}}
)

// layout gives the places of the fields of a line; the query is the first field.
type layout struct {
	names                        string
	fields                       int
	document, rank, score, grade int // 0: there is none
}

// Content is a kind of lines, runs or judgments, with its formats.
type Content struct {
	formats string
	layouts map[Format]layout
}

var (
	Runs = Content{"trec, msmarco, json", map[Format]layout{
		TREC:    {"query, Q0, document, rank, score and tag", 6, 2, 3, 4, 0},
		MSMarco: {"query, document and rank", 3, 1, 2, 0, 0},
		JSON:    {"", 3, 1, 0, 2, 0},
	}}
	Qrels = Content{"trec, beir, json", map[Format]layout{
		TREC: {"query, 0, document and grade", 4, 2, 0, 0, 3},
		BEIR: {"query, document and grade, with tabs between them", 3, 1, 0, 0, 2},
		JSON: {"", 3, 1, 0, 0, 2},
	}}
)

// Rows yields the lines of a file of any program, plain or compressed, and returns its format. Errors name the line.
func (c Content) Rows(r io.Reader, format Format, yield func(Row) error) (Format, error) {
	z, err := unpack.Open(r)
	if err != nil {
		return format, err
	}
	defer z.Close()
	in := bufio.NewReader(z)
	if start, _ := in.Peek(3); string(start) == "\ufeff" { // a byte order mark
		in.Discard(3)
	}
	if format == Auto {
		if head, _ := in.Peek(in.Size()); bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) {
			format = JSON
		}
	}
	if format == JSON {
		return JSON, c.readJSON(in, yield)
	}
	err = c.lines(in, &format, yield)
	return format, err
}

// comment begins a comment line, such as ir_metadata's header.
const comment = "#"

// lines yields the rows of a file that is not JSON. It recognises an Auto format by the first row, and sets it.
func (c Content) lines(r io.Reader, format *Format, yield func(Row) error) error {
	lines := unpack.NewLines(r)
	first := true
	var f []string
	var at layout // of format of
	var of Format
	var text strings.Builder // holds many lines, to allocate less often
	return lines.Each(func(bytes []byte) error {
		if text.Cap()-text.Len() < len(bytes) {
			text.Reset() // names keep the old text
			text.Grow(max(32<<10, len(bytes)))
		}
		from := text.Len()
		text.Write(bytes)
		line := strings.TrimSuffix(text.String()[from:], "\r")
		if f = slices.AppendSeq(f[:0], strings.FieldsFuncSeq(line, isSpace)); len(f) == 0 {
			return nil
		}
		said := line[0] == comment[0]
		is := *format
		if is == Auto {
			is = c.told(line, len(f))
		}
		if is == Auto && !said {
			return fmt.Errorf("%.80q is not in a format that redsi knows: %s", line, c.formats)
		}
		if is != TREC && strings.Contains(line, "\t") {
			f = append(f[:0], strings.Split(line, "\t")...)
			for i := 0; is == BEIR && i < len(f); i++ {
				f[i] = Unquoted(f[i])
			}
		}
		header := first && is == BEIR && isHeader(f)
		if is != of {
			at, of = c.layouts[is], is
		}
		row, err := c.row(f, is, at)
		switch {
		case said && err == nil && f[0] != comment:
			return fmt.Errorf("query %.80q begins with #: trec_eval 10 takes its lines for comments, trec_eval 9 for rows; rename it, or write a blank after the # of a comment", f[0])
		case said:
			return nil
		}
		first, *format = false, is
		if header {
			return nil
		}
		if err != nil {
			return err
		}
		row.Line = lines.Number()
		return yield(row)
	})
}

// told returns the format of a line; Auto if it is in none.
func (c Content) told(line string, fields int) Format {
	if strings.Count(line, "\t") == 2 { // with tabs between names that may have blanks
		fields = 3
	}
	for format, l := range c.layouts {
		if l.fields == fields && format != JSON {
			return format
		}
	}
	return Auto
}

// isSpace reports ASCII white space, at which trec_eval cuts: a no-break space is part of a name.
func isSpace(r rune) bool { return r == ' ' || '\t' <= r && r <= '\r' }

// Fields returns the fields of a line of TREC's files.
func Fields(line string) []string { return strings.FieldsFunc(line, isSpace) }

// Unquoted removes CSV's quotes from a name: programs read BEIR's judgments as CSV with tabs.
func Unquoted(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	return strings.ReplaceAll(s[1:len(s)-1], `""`, `"`)
}

// isHeader reports whether a line names columns: its last field is not a number, and the first names queries.
func isHeader(f []string) bool {
	_, err := values.Float(f[len(f)-1])
	query := strings.ToLower(f[0])
	return err != nil && len(f) == 3 && (strings.Contains(query, "query") || query == "qid" || query == "topic")
}

func (c Content) row(f []string, format Format, l layout) (row Row, err error) {
	switch {
	case l.fields == 0:
		return row, fmt.Errorf("there is no format %q; there are %s", format, c.formats)
	case len(f) != l.fields:
		return row, fmt.Errorf("%d fields, want %d: %s", len(f), l.fields, l.names)
	}
	row.Query, row.Document = f[0], f[l.document]
	if l.rank > 0 {
		if row.Rank, err = values.Integer(f[l.rank]); err != nil {
			return row, fmt.Errorf("rank %.20q is not an integer", f[l.rank])
		}
		if row.Score = -float64(row.Rank); l.score == 0 && row.Rank < 1 {
			return row, fmt.Errorf("rank %.20q is not an integer from 1 on", f[l.rank])
		}
	}
	if l.score > 0 {
		if row.Score, err = values.Float(f[l.score]); err != nil || math.IsNaN(row.Score) {
			return row, fmt.Errorf("score %.20q is not a number", f[l.score])
		}
	}
	if l.grade > 0 {
		if row.Grade, err = values.Integer(f[l.grade]); err != nil {
			return row, fmt.Errorf("grade %.20q is not an integer", f[l.grade])
		}
	}
	if row.Query == "" || row.Document == "" {
		return row, errors.New("a query or a document has no name")
	}
	return row, nil
}
