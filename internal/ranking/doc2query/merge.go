package doc2query

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/pytext"
)

// Generated is a query that was generated for a document.
type Generated struct {
	Doc    int32  `json:"doc"`
	Number int    `json:"number"` // among the document's, from 0
	Query  string `json:"query"`
}

// Merge makes a collection's queries of its own and the generated ones, which become training queries. A generated
// query is left out if it is one of the development or test queries, by Form, since it would leak; if its document has
// it already; and if it has no letters or digits.
type Merge struct {
	KeepTrain bool // own training queries are kept
	Documents int  // of the collection

	Report
	heldOut map[string]bool    // forms of development and test queries
	trained map[int32][]string // forms of own training queries that are kept, by document
	last    int64              // greatest ExampleID
	round   int                // of names: a collection may have generated queries of before
	doc     int32              // whose forms are in seen
	seen    map[string]bool
	kept    int // generated queries of doc that were kept
	of      map[uint64]int32
	shared  map[uint64]bool
}

// generatedName begins the names of generated queries.
const generatedName = "generated"

// Own reads the collection's own queries, which Write copies.
func (m *Merge) Own(r io.Reader) error {
	m.heldOut, m.trained, m.round = map[string]bool{}, map[int32][]string{}, 1
	m.seen, m.of, m.shared, m.doc = map[string]bool{}, map[uint64]int32{}, map[uint64]bool{}, -1
	m.Report = Report{Documents: m.Documents, Examples: []Examples{}, Leaked: []string{}}
	return dedup.ReadQueries(r, m.Documents, func(q *dedup.Query) error {
		m.last = max(m.last, q.ExampleID)
		if rest, ok := strings.CutPrefix(q.Name, generatedName); ok {
			digits, _, _ := strings.Cut(rest, "-")
			if n, err := strconv.Atoi(digits); err == nil || digits == "" {
				m.round = max(m.round, max(n, 1)+1)
			}
		}
		form := Form(q.Question)
		switch {
		case q.Split != nq.Train:
			m.heldOut[form] = true
			m.Evaluation++
		case m.KeepTrain:
			m.Train++
			m.trained[q.Doc] = append(m.trained[q.Doc], form)
		default:
			m.LeftOut++
		}
		return nil
	})
}

// Write writes the kept own queries, in their order, and after them the generated queries that each yields, document by
// document.
func (m *Merge) Write(w io.Writer, own io.Reader, each func(yield func(Generated) error) error) error {
	return dedup.WriteLines(w, func(put func(any) error) error {
		err := dedup.ReadQueries(own, m.Documents, func(q *dedup.Query) error {
			if q.Split == nq.Train && !m.KeepTrain {
				return nil
			}
			return put(q)
		})
		if err != nil {
			return err
		}
		if err := each(func(g Generated) error { return m.add(g, put) }); err != nil {
			return err
		}
		m.next(-1)
		m.Shared, m.MeanWords = len(m.shared), float64(m.words)/float64(max(1, m.Kept))
		return nil
	})
}

// next counts the document that is done, and begins another.
func (m *Merge) next(doc int32) {
	if m.kept > 0 {
		m.WithQueries++
	}
	m.doc, m.kept = doc, 0
	clear(m.seen)
}

func (m *Merge) add(g Generated, put func(any) error) error {
	if g.Doc < 0 || int(g.Doc) >= m.Documents {
		return fmt.Errorf("a query was generated for document %d of %d", g.Doc, m.Documents)
	}
	if g.Doc != m.doc {
		if g.Doc < m.doc {
			return fmt.Errorf("queries generated for document %d come after queries of document %d", g.Doc, m.doc)
		}
		m.next(g.Doc)
	}
	m.Generated++
	text := strings.Join(strings.Fields(g.Query), " ")
	form := Form(text)
	switch {
	case form == "":
		m.Empty++
		return nil
	case m.heldOut[form]:
		if m.Leaks++; m.Leaks <= exampleLeaks {
			m.Leaked = append(m.Leaked, text)
		}
		return nil
	case m.seen[form]:
		m.Repeated++
		return nil
	case slices.Contains(m.trained[g.Doc], form):
		m.InTraining++
		return nil
	}
	if m.last == math.MaxInt64 {
		return fmt.Errorf("no number is left for generated queries: an example_id of the collection's is %d", m.last)
	}
	m.last++
	m.kept++
	m.seen[form] = true
	m.meet(g.Doc, form)
	m.example(g.Doc, text)
	m.words += len(strings.Fields(text))
	m.Kept++
	name := fmt.Sprintf("%s-%d-%d", generatedName, g.Doc, g.Number)
	if m.round > 1 {
		name = fmt.Sprintf("%s%d-%d-%d", generatedName, m.round, g.Doc, g.Number)
	}
	return put(&dedup.Query{ExampleID: m.last, Split: nq.Train, Question: text, Doc: g.Doc, Name: name})
}

// meet notes forms that several documents have.
func (m *Merge) meet(doc int32, form string) {
	h := fnv.New64a()
	io.WriteString(h, form) //nolint:errcheck // it never fails
	sum := h.Sum64()
	if first, ok := m.of[sum]; !ok {
		m.of[sum] = doc
	} else if first != doc {
		m.shared[sum] = true
	}
}

// Form is what two queries have in common that count as the same: their letters, marks and
// digits in lower case, one blank between words. It is "" of what has none.
func Form(query string) string {
	words := strings.FieldsFunc(pytext.Lower(query), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	return strings.Join(words, " ")
}
