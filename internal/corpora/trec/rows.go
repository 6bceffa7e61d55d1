package trec

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/redsi/redsi/internal/corpora/qrels"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/values"
)

// Row is a line of a run or of judgments. Names are as the file has them.
type Row struct {
	Query, Document string
	Rank            int     // of a run; 0 where the format has none
	Score           float64 // of a run; 0 where the format has none
	Grade           int     // of judgments
	Line            int
}

// Format is how a file is laid out.
type Format string

const (
	Auto    Format = ""        // told by the first line
	TREC    Format = "trec"    // query Q0 document rank score tag; query 0 document grade
	MSMarco Format = "msmarco" // query document rank
	BEIR    Format = "beir"    // query, document, grade with tabs between them, after a header
	JSON    Format = "json"    // {query: {document: score or grade}}
)

// RunFormats and JudgmentFormats are those that the readers know.
var (
	RunFormats      = []Format{TREC, MSMarco, JSON}
	JudgmentFormats = []Format{TREC, BEIR, JSON}
)

// ReadRun yields the lines of a run, plain or compressed, and says which format it has.
// Errors name the line.
func ReadRun(r io.Reader, format Format, yield func(Row) error) (Format, error) {
	return read(r, format, runRow, map[int]Format{6: TREC, 3: MSMarco}, RunFormats, yield)
}

// ReadJudgments yields the lines of judgments, as ReadRun does.
func ReadJudgments(r io.Reader, format Format, yield func(Row) error) (Format, error) {
	return read(r, format, judgment, map[int]Format{4: TREC, 3: BEIR}, JudgmentFormats, yield)
}

// parser makes a row of a line's fields.
type parser func(f []string, format Format) (Row, error)

func read(r io.Reader, format Format, parse parser, byFields map[int]Format, formats []Format, yield func(Row) error) (Format, error) {
	z, err := unpack.Open(r)
	if err != nil {
		return format, err
	}
	defer z.Close()
	buffered := bufio.NewReader(z)
	if start, _ := buffered.Peek(3); string(start) == "\ufeff" { // a byte order mark
		buffered.Discard(3)
	}
	in := &lineCounter{r: buffered}
	if format == Auto {
		b, err := peek(buffered)
		if err != nil {
			return format, err
		}
		if b == '{' {
			format = JSON
		}
	}
	if format == JSON {
		return JSON, readJSON(in, parse, yield)
	}
	lines := unpack.NewLines(in)
	first := true
	err = lines.Each(func(line []byte) error {
		if len(bytes.TrimSpace(line)) == 0 || first && bytes.HasPrefix(line, []byte("#")) { // a header such as ir_metadata's
			return nil
		}
		if format == Auto {
			n := len(qrels.Fields(string(line)))
			if bytes.Count(line, []byte("\t")) == 2 { // with tabs between names that may have blanks
				n = 3
			}
			if format = byFields[n]; format == Auto {
				return fmt.Errorf("%q is not in a format that redsi knows: %v", clip(string(line)), formats)
			}
		}
		f := fieldsOf(string(line), format)
		header := first && format == BEIR && isHeader(f)
		first = false
		if header {
			return nil
		}
		row, err := parse(f, format)
		if err != nil {
			return err
		}
		if row.Query == "" || row.Document == "" {
			return errors.New("a query or a document has no name")
		}
		row.Line = lines.Number()
		return yield(row)
	})
	return format, err
}

// fieldsOf cuts a line. Where tabs divide, names may have blanks.
func fieldsOf(line string, format Format) []string {
	line = strings.TrimSuffix(line, "\r")
	if format != TREC && strings.Contains(line, "\t") {
		return strings.Split(line, "\t")
	}
	return qrels.Fields(line)
}

// isHeader reports whether a line names columns: its last field is not a number, and the first
// is a name of queries.
func isHeader(f []string) bool {
	_, err := values.Float(f[len(f)-1])
	query := strings.ToLower(f[0])
	return err != nil && len(f) == 3 && (strings.Contains(query, "query") || query == "qid" || query == "topic")
}

func clip(s string) string { return s[:min(len(s), 80)] }

func runRow(f []string, format Format) (row Row, err error) {
	switch {
	case format == TREC && len(f) == 6:
		row.Query, row.Document = f[0], f[2]
		if row.Rank, err = values.Whole(f[3]); err != nil {
			return row, fmt.Errorf("rank %.20q is not a whole number", f[3])
		}
		row.Score, err = parseScore(f[4])
		return row, err
	case format == TREC:
		return row, fmt.Errorf("%d fields, want 6: query, Q0, document, rank, score and tag", len(f))
	case format == MSMarco && len(f) == 3:
		row.Query, row.Document = f[0], f[1]
		if row.Rank, err = values.Whole(f[2]); err != nil || row.Rank < 1 {
			return row, fmt.Errorf("rank %.20q is not a whole number from 1 on", f[2])
		}
		row.Score = -float64(row.Rank)
		return row, nil
	case format == MSMarco:
		return row, fmt.Errorf("%d fields, want 3: query, document and rank", len(f))
	case format == JSON:
		row.Query, row.Document = f[0], f[1]
		row.Score, err = parseScore(f[2])
		return row, err
	}
	return row, fmt.Errorf("a run has no format %q", format)
}

func parseScore(s string) (float64, error) {
	v, err := values.Float(s)
	if err != nil || math.IsNaN(v) {
		return 0, fmt.Errorf("score %.20q is not a number", s)
	}
	return v, nil
}

func judgment(f []string, format Format) (row Row, err error) {
	grade := ""
	switch {
	case format == TREC && len(f) == 4:
		row.Query, row.Document, grade = f[0], f[2], f[3]
	case format == TREC:
		return row, fmt.Errorf("%d fields, want 4: query, 0, document and grade", len(f))
	case (format == BEIR || format == JSON) && len(f) == 3:
		row.Query, row.Document, grade = f[0], f[1], f[2]
	case format == BEIR:
		return row, fmt.Errorf("%d fields, want 3: query, document and grade, with tabs between them", len(f))
	default:
		return row, fmt.Errorf("judgments have no format %q", format)
	}
	if row.Grade, err = values.Whole(grade); err != nil {
		return row, fmt.Errorf("grade %.20q is not a whole number", grade)
	}
	return row, nil
}
