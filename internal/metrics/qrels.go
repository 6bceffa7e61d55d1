package metrics

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Judgment is one line of TREC qrels.
type Judgment struct {
	Query, Document string
	Grade           int // how relevant the document is; 0 or less: not relevant
}

// ParseJudgment reads a line "query 0 document grade" of TREC qrels, with any white space
// between the fields.
func ParseJudgment(line string) (j Judgment, err error) {
	f := strings.Fields(line)
	if len(f) != 4 {
		return j, fmt.Errorf("%d fields, want 4: query, 0, document and relevance", len(f))
	}
	if j.Grade, err = strconv.Atoi(f[3]); err != nil {
		return j, fmt.Errorf("relevance %.20q is no whole number", f[3])
	}
	if j.Query, err = decodeName(f[0]); err != nil {
		return j, err
	}
	j.Document, err = decodeName(f[2])
	return j, err
}

// Qrels are the relevant documents of queries, in the order in which they were
// added. The zero value is empty.
type Qrels struct {
	queries  []string
	relevant map[string][]string
}

// Add judges a document relevant to a query.
func (q *Qrels) Add(query, document string) error {
	if query == "" || document == "" {
		return fmt.Errorf("a judgment of query %q and document %q lacks a name", query, document)
	}
	if slices.Contains(q.relevant[query], document) {
		return fmt.Errorf("query %q and document %q are judged twice", query, document)
	}
	if q.relevant == nil {
		q.relevant = map[string][]string{}
	}
	if _, ok := q.relevant[query]; !ok {
		q.queries = append(q.queries, query)
	}
	q.relevant[query] = append(q.relevant[query], document)
	return nil
}

// Len is the number of queries with a relevant document.
func (q *Qrels) Len() int { return len(q.queries) }

// Queries lists them in order.
func (q *Qrels) Queries() []string { return q.queries }

// Relevant returns a query's relevant documents.
func (q *Qrels) Relevant(query string) []string { return q.relevant[query] }

// Write writes TREC qrels, one "query 0 document 1" a line.
func (q *Qrels) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, query := range q.queries {
		for _, d := range q.relevant[query] {
			fmt.Fprintf(b, "%s 0 %s 1\n", encodeName(query), encodeName(d))
		}
	}
	return b.Flush()
}
