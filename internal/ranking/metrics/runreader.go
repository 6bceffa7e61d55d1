package metrics

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/qrels"
	"github.com/redsi/redsi/internal/corpora/unpack"
)

// runReader reads a TREC run query by query and holds one query.
type runReader struct {
	lines *unpack.Lines
	seen  map[string]int // queries, by the line where they begin
	ahead bool           // line holds the first one of the next query
	line  runLine
	names nameSet
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

// rawRow is a document as the file names it. document is what it names: nil for a
// hypothesis that is not a document, or one that names a document again.
type rawRow struct {
	name, document []byte
	again          bool // it names a document again
	score          float64
}

func newRunReader(r io.Reader) *runReader {
	return &runReader{lines: unpack.NewLines(r), seen: map[string]int{}}
}

// next reads a query's lines into r, whose slices are valid until the next call; io.EOF
// after the last.
func (x *runReader) next(r *rawRanking) error {
	r.rows = r.rows[:0]
	x.names.clear()
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
	row = rawRow{name: x.names.keep(x.line.name), score: x.line.score}
	if row.name[0] == mark[0] {
		h, again, err := parseMarked(row.name)
		if err != nil || !again {
			return row, err
		}
		row.again = true
		if at := x.names.find([]byte(h.Document)); at == 0 {
			return row, fmt.Errorf("document %q does not appear above, where it should be named first", h.Document)
		}
		return row, nil
	}
	row.document = row.name
	if bytes.IndexByte(row.name, '%') >= 0 {
		name, err := qrels.DecodeName(string(row.name))
		if err != nil {
			return row, err
		}
		row.document = []byte(name)
	}
	if at := x.names.add(row.document, x.lines.Number()); at != 0 {
		return row, fmt.Errorf("document %q is on line %d already", row.document, at)
	}
	return row, nil
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
		if x.line.score, err = strconv.ParseFloat(string(f[4]), 64); err != nil || math.IsNaN(x.line.score) {
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

// nameSet is the documents of one query with the lines that they stand on. It is emptied
// and filled again without giving up its memory.
type nameSet struct {
	seed  maphash.Seed
	slots []nameSlot // a power of two
	used  int
	round uint32 // slots of other rounds are free
	text  []byte // names that are kept
}

type nameSlot struct {
	round uint32
	line  int
	name  []byte
}

func (s *nameSet) clear() {
	if s.slots == nil {
		s.seed, s.slots = maphash.MakeSeed(), make([]nameSlot, 1<<10)
	}
	s.used = 0
	s.text = nil // rankings hold what was kept in it
	if s.round++; s.round == 0 {
		clear(s.slots)
		s.round = 1
	}
}

// keep copies a name.
func (s *nameSet) keep(name []byte) []byte {
	if cap(s.text)-len(s.text) < len(name) {
		s.text = make([]byte, 0, max(32<<10, len(name)))
	}
	from := len(s.text)
	s.text = append(s.text, name...)
	return s.text[from:len(s.text):len(s.text)]
}

// slot is where a name is, or would be.
func (s *nameSet) slot(name []byte) *nameSlot {
	for at := maphash.Bytes(s.seed, name); ; at++ {
		slot := &s.slots[at&uint64(len(s.slots)-1)]
		if slot.round != s.round || string(slot.name) == string(name) {
			return slot
		}
	}
}

// find is the line of a name, 0 for none.
func (s *nameSet) find(name []byte) int {
	if slot := s.slot(name); slot.round == s.round {
		return slot.line
	}
	return 0
}

// add is find, and adds a name that is not there. The name must not change.
func (s *nameSet) add(name []byte, line int) int {
	slot := s.slot(name)
	if slot.round == s.round {
		return slot.line
	}
	*slot = nameSlot{s.round, line, name}
	if s.used++; 2*s.used > len(s.slots) {
		old := s.slots
		s.slots = make([]nameSlot, 2*len(old))
		for _, o := range old {
			if o.round == s.round {
				*s.slot(o.name) = o
			}
		}
	}
	return 0
}
