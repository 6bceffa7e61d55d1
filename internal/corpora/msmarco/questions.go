package msmarco

import (
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// Questions are the queries of a split with the documents that are relevant to each.
type Questions struct {
	Queries  []Query   // in the order of their files
	Relevant [][]int64 // documents of each, in the order of their judgments; nil: none

	place map[int64]int // of queries
}

// QuestionCounts says what was read of a split, and what became of it.
type QuestionCounts struct {
	Queries   nq.Counts `json:"queries"`
	Judgments nq.Counts `json:"judgments"`

	Irrelevant   int64 `json:"not_relevant_judgments"`        // of grade 0 and less
	Repeated     int64 `json:"repeated_judgments"`            // of one query and document; the first counts
	Unknown      int64 `json:"judgments_without_query"`       // whose query is in none of the files
	Unjudged     int64 `json:"queries_without_judgment"`      // nothing is relevant to them
	NotDrawn     int64 `json:"queries_not_drawn"`             // left out by a limit
	Missing      int64 `json:"judgments_without_document"`    // whose document is in none of the files
	Dropped      int64 `json:"judgments_of_empty_documents"`  // whose document was left out because its body is empty
	Merged       int64 `json:"judgments_of_merged_documents"` // whose document is one with another of the same query's
	Documentless int64 `json:"queries_without_document"`      // all of whose documents are missing or left out
	Asked        int64 `json:"queries_asked"`                 // those that remain
	Several      int64 `json:"queries_of_several_documents"`  // of them, those with more than one
}

// AddQuery takes a line of queries.
func (q *Questions) AddQuery(line []byte) error {
	query, err := ParseQuery(line)
	if err != nil {
		return err
	}
	if _, ok := q.place[query.ID]; ok {
		return faultf(nq.Duplicate, "query %d was there before", query.ID)
	}
	if q.place == nil {
		q.place = map[int64]int{}
	}
	q.place[query.ID] = len(q.Queries)
	q.Queries = append(q.Queries, query)
	q.Relevant = append(q.Relevant, nil)
	return nil
}

// AddJudgment takes a line of qrels, after all queries. One whose query is in none of the
// files is counted, or an error if they must all be there.
func (q *Questions) AddJudgment(line []byte, all bool, c *QuestionCounts) error {
	j, err := ParseJudgment(line)
	if err != nil {
		return err
	}
	i, ok := q.place[j.Query]
	switch {
	case !j.Relevant:
		c.Irrelevant++
	case !ok && all:
		return fmt.Errorf("the judgment of query %d and document %s: the query is in none of the files of queries", j.Query, Name(j.Document))
	case !ok:
		c.Unknown++
	case slices.Contains(q.Relevant[i], j.Document):
		c.Repeated++
	default:
		q.Relevant[i] = append(q.Relevant[i], j.Document)
	}
	return nil
}

// Draw keeps the queries that have a relevant document, at most limit of them by seed; 0: all.
func (q *Questions) Draw(limit int, seed uint64, c *QuestionCounts) {
	if limit == 0 {
		limit = -1
	}
	drawn := NewSample(limit, seed)
	for i, query := range q.Queries {
		if len(q.Relevant[i]) > 0 {
			drawn.Offer(query.ID)
		}
	}
	n := 0
	for i, query := range q.Queries {
		switch {
		case len(q.Relevant[i]) == 0:
			c.Unjudged++
		case !drawn.Has(query.ID):
			c.NotDrawn++
		default:
			q.Queries[n], q.Relevant[n] = query, q.Relevant[i]
			n++
		}
	}
	q.Queries, q.Relevant, q.place = q.Queries[:n], q.Relevant[:n], nil
}
