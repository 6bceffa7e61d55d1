package metrics

import (
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpora/trec"
)

// Evaluate scores rankings over the queries that have a relevant document. Every ranking's
// query must be one of these and have one ranking; one without ranking counts 0 everywhere, as
// in ir-measures. Rankings are given unfiltered: Mode says how they are ranked, and
// Invalid@k always looks at the unfiltered beam.
func Evaluate(metrics []Metric, mode Mode, rankings []trec.Ranking, judged *trec.Judgments) (*Scores, error) {
	relevant := slices.DeleteFunc(slices.Clone(judged.Judged()), func(q string) bool { return judged.Query(q).Relevant() == 0 })
	if len(relevant) == 0 {
		return nil, fmt.Errorf("no query is judged: there is nothing to average over")
	}
	s := Scoring{Metrics: metrics, Mode: mode}
	scored := make(map[string][]float64, len(rankings))
	v := view{seen: map[string]struct{}{}}
	for i := range rankings {
		q := rankings[i].Query
		if scored[q] != nil {
			return nil, fmt.Errorf("query %q has two rankings", q)
		}
		if j := judged.Query(q); j == nil || j.Relevant() == 0 {
			return nil, fmt.Errorf("query %q is ranked but has no relevant document; do rankings and judgments belong to the same queries?", q)
		}
		scored[q] = s.values(&v, &rankings[i], judged.Query(q))
	}
	out := &Scores{}
	return out, s.collect(out, scored, judged, relevant)
}
