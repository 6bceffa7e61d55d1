package trec

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
)

// Judgment is one line of TREC qrels.
type Judgment struct {
	Query, Document string
	Grade           int // how relevant the document is; 0 or less: not relevant
}

// Judgments holds documents' grades by query, in the order added. The zero value is empty.
type Judgments struct {
	Judged []string // queries with a judgment, in order
	of     map[string]*Query
}

type Query struct {
	documents []string
	Grades    []int          // of all judgments, in their order
	Relevant  int            // documents whose grade is at least 1
	places    map[string]int // of documents, once there are many
}

// manyJudgments is the number of judgments of a query from which a map is faster than a search.
const manyJudgments = 16

func (j *Query) find(document string) int {
	if j.places == nil {
		return slices.Index(j.documents, document)
	}
	if at, ok := j.places[document]; ok {
		return at
	}
	return -1
}

func (j *Query) Grade(document string) (grade int, judged bool) {
	if at := j.find(document); at >= 0 {
		return j.Grades[at], true
	}
	return 0, false
}

// Judge adds a judgment. A grade of 0 or less means that the document is not relevant.
func (q *Judgments) Judge(query, document string, grade int) error {
	if query == "" || document == "" {
		return fmt.Errorf("a judgment of query %q and document %q lacks a name", query, document)
	}
	if q.of == nil {
		q.of = map[string]*Query{}
	}
	j := q.of[query]
	if j == nil {
		j = &Query{}
		q.of[query] = j
		q.Judged = append(q.Judged, query)
	}
	if j.find(document) >= 0 {
		return fmt.Errorf("query %q and document %q are judged twice", query, document)
	}
	j.documents, j.Grades = append(j.documents, document), append(j.Grades, grade)
	switch {
	case j.places != nil:
		j.places[document] = len(j.documents) - 1
	case len(j.documents) > manyJudgments:
		j.places = make(map[string]int, 2*len(j.documents))
		for i, d := range j.documents {
			j.places[d] = i
		}
	}
	if grade >= 1 {
		j.Relevant++
	}
	return nil
}

// Query returns a query's judgments, or nil.
func (q *Judgments) Query(query string) *Query { return q.of[query] }

// Of yields the judgments of a query: documents with their grades.
func (q *Judgments) Of(query string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		if j := q.of[query]; j != nil {
			for i, d := range j.documents {
				if !yield(d, j.Grades[i]) {
					return
				}
			}
		}
	}
}

func (q *Judgments) Each(yield func(Judgment) bool) {
	for _, query := range q.Judged {
		for d, grade := range q.Of(query) {
			if !yield(Judgment{query, d, grade}) {
				return
			}
		}
	}
}

// Write writes TREC qrels as they stand between steps, one "query 0 document grade" a line.
func (q *Judgments) Write(w io.Writer) error { return q.WriteAs(w, EncodeName) }

// WriteAs writes TREC qrels with names spelled by name.
func (q *Judgments) WriteAs(w io.Writer, name func(string) string) error {
	b := bufio.NewWriter(w)
	for j := range q.Each {
		fmt.Fprintf(b, "%s 0 %s %d\n", name(j.Query), name(j.Document), j.Grade)
	}
	return b.Flush()
}

// ReadQrels reads lines of Write or of a program, in any order. Errors, as for a pair judged twice, name the line.
func ReadQrels(r io.Reader) (*Judgments, error) {
	q := &Judgments{}
	return q, q.Read(r)
}

// Read adds the judgments of a file, as ReadQrels reads it.
func (q *Judgments) Read(r io.Reader) error {
	format := TREC
	err := Qrels.lines(r, &format, func(row Row) error {
		query, wrong := DecodeName(row.Query)
		document, err := DecodeName(row.Document)
		if err = cmp.Or(wrong, err); err != nil {
			return err
		}
		return q.Judge(query, document, row.Grade)
	})
	if err != nil {
		return fmt.Errorf("qrels: %w", err)
	}
	return nil
}
