package metrics

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/qrels"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/values"
)

// runReader reads a TREC run query by query and holds one query.
type runReader struct {
	lines *unpack.Lines
	seen  map[string]int // queries, by the line where they begin
	ahead bool           // line holds the first one of the next query
	line  runLine
	names map[string]int  // the query's documents, by their lines; emptied, it keeps its memory
	text  strings.Builder // names that are kept
}

// runLine is a line, valid until the next one is read.
type runLine struct {
	query, name []byte // as written
	rank        int
	score       float64
}

// rawRanking is one query's lines.
type rawRanking struct {
	query string
	rows  []rawRow
}

// rawRow is a document as the file names it. document is what it names: "" for a
// hypothesis that is not a document, or one that names a document again.
type rawRow struct {
	name, document string
	again          bool // it names a document again
	score          float64
}

func newRunReader(r io.Reader) *runReader {
	return &runReader{lines: unpack.NewLines(r), seen: map[string]int{}, names: map[string]int{}}
}

// next reads a query's lines into r, whose slices are valid until the next call; io.EOF
// after the last.
func (x *runReader) next(r *rawRanking) error {
	r.rows = r.rows[:0]
	clear(x.names)
	if !x.ahead {
		if err := x.readLine(); err != nil {
			return err
		}
	}
	x.ahead = false
	query, err := qrels.DecodeName(string(x.line.query))
	if err != nil {
		return x.fail(err)
	}
	if at, ok := x.seen[query]; ok {
		return x.fail(fmt.Errorf("query %q began on line %d; its lines must be together", query, at))
	}
	x.seen[query] = x.lines.Number()
	r.query = query
	written := string(x.line.query)
	rank := math.MinInt
	for {
		if x.line.rank <= rank {
			return x.fail(fmt.Errorf("rank \"%d\"; ranks of a query must rise", x.line.rank))
		}
		rank = x.line.rank
		if n := len(r.rows); n > 0 && x.line.score > r.rows[n-1].score {
			return x.fail(fmt.Errorf("score %v at rank %d, above the score before it; order the lines by score", x.line.score, rank))
		}
		row, err := x.row()
		if err != nil {
			return x.fail(err)
		}
		r.rows = append(r.rows, row)
		switch err := x.readLine(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case string(x.line.query) != written:
			x.ahead = true
			return nil
		}
	}
}

// row keeps the line's document.
func (x *runReader) row() (row rawRow, err error) {
	row = rawRow{name: x.keep(x.line.name), score: x.line.score}
	if row.name[0] == mark[0] {
		h, again, err := parseMarked(row.name)
		if err != nil || !again {
			return row, err
		}
		row.again = true
		if x.names[h.Document] == 0 {
			return row, fmt.Errorf("document %q does not appear above, where it should be named first", h.Document)
		}
		return row, nil
	}
	if row.document, err = qrels.DecodeName(row.name); err != nil {
		return row, err
	}
	if at, ok := x.names[row.document]; ok {
		return row, fmt.Errorf("document %q is on line %d already", row.document, at)
	}
	x.names[row.document] = x.lines.Number()
	return row, nil
}

// keep copies a name next to others, so that not every one takes memory of its own.
func (x *runReader) keep(name []byte) string {
	if x.text.Cap()-x.text.Len() < len(name) {
		x.text.Reset() // names hold what they stand in
		x.text.Grow(max(32<<10, len(name)))
	}
	from := x.text.Len()
	x.text.Write(name)
	return x.text.String()[from:]
}

func (x *runReader) fail(err error) error { return fmt.Errorf("line %d: %w", x.lines.Number(), err) }

// readLine reads the next line that is not blank.
func (x *runReader) readLine() error {
	for {
		line, err := x.lines.Next()
		if err == io.EOF {
			return err
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", x.lines.Number()+1, err)
		}
		var f [6][]byte
		switch n := splitFields(line, f[:]); n {
		case 0:
			continue
		case 6:
		default:
			return x.fail(fmt.Errorf("%d fields, want 6: query, Q0, document, rank, score and tag", n))
		}
		x.line.query, x.line.name = f[0], f[2]
		if x.line.rank, err = strconv.Atoi(string(f[3])); err != nil {
			return x.fail(fmt.Errorf("rank %.20q; ranks of a query must rise", f[3]))
		}
		if x.line.score, err = values.Float(string(f[4])); err != nil || math.IsNaN(x.line.score) {
			return x.fail(fmt.Errorf("score %.20q is not a number", f[4]))
		}
		return nil
	}
}

// splitFields cuts a line at ASCII white space, as trec_eval does, and returns how many
// fields there are, also of those that into has no room for.
func splitFields(line []byte, into [][]byte) int {
	n := 0
	for i := 0; i < len(line); {
		if isSpace(line[i]) {
			i++
			continue
		}
		from := i
		for i < len(line) && !isSpace(line[i]) {
			i++
		}
		if n < len(into) {
			into[n] = line[from:i]
		}
		n++
	}
	return n
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
