package metrics

import (
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpora/qrels"
)

// Evaluate scores rankings over the queries that have a relevant document. Every ranking's
// query must be one of these and have one ranking; one without ranking counts 0 everywhere, as
// in ir-measures. Rankings are given unfiltered: Mode says how they are ranked, and
// Invalid@k always looks at the unfiltered beam.
func Evaluate(metrics []Metric, mode Mode, rankings []Ranking, judged *qrels.Judgments) (*Scores, error) {
	if !slices.Contains(Modes(), mode) {
		return nil, fmt.Errorf("evaluation mode %q is unknown; there are %q", mode, Modes())
	}
	if judged.Len() == 0 {
		return nil, fmt.Errorf("no query is judged: there is nothing to average over")
	}
	s := Scoring{Metrics: metrics, Mode: mode}
	scored := make(map[string][]float64, len(rankings))
	var rows []rawRow
	var v view
	for i := range rankings {
		q := rankings[i].Query
		if scored[q] != nil {
			return nil, fmt.Errorf("query %q has two rankings", q)
		}
		if len(judged.Relevant(q)) == 0 {
			return nil, fmt.Errorf("query %q is ranked but has no relevant document; do rankings and judgments belong to the same queries?", q)
		}
		rows = rankings[i].rows(rows[:0])
		scored[q] = s.values(&v, rows, judged.Query(q))
	}
	out := &Scores{}
	return out, s.collect(out, scored, judged, judged.Queries())
}

// rows are the ranking's lines, as a run has them.
func (r *Ranking) rows(into []rawRow) []rawRow {
	seen := make(map[string]struct{}, len(r.Hypotheses))
	for _, h := range r.Hypotheses {
		row := rawRow{score: h.Score}
		_, row.again = seen[h.Document]
		if h.Document != "" && !row.again {
			seen[h.Document] = struct{}{}
			row.document = h.Document
		}
		into = append(into, row)
	}
	return into
}
