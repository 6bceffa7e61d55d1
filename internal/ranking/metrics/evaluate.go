package metrics

import (
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpora/qrels"
)

// Report is the values of metrics over queries.
type Report struct {
	Mode    Mode         `json:"mode"`
	Metrics []string     `json:"metrics"`
	Mean    []float64    `json:"mean"`    // by metric, over all judged queries
	Queries int          `json:"queries"` // judged ones
	Missing int          `json:"missing"` // of them, without a ranking: they count 0, as in ir-measures
	Rows    []QueryScore `json:"-"`       // in the order of the judgments
}

// QueryScore is one query's values.
type QueryScore struct {
	Query  string
	Scores []float64 // by metric
}

// Evaluate scores rankings. Every ranking's query must be judged and have one
// ranking; a judged query without ranking counts 0 everywhere and is counted as
// missing. Rankings are given unfiltered: Mode says how they are ranked, and
// Invalid@k always looks at the unfiltered beam.
func Evaluate(metrics []Metric, mode Mode, rankings []Ranking, judged *qrels.Judgments) (*Report, error) {
	if !slices.Contains(Modes(), mode) {
		return nil, fmt.Errorf("evaluation mode %q is unknown; there are %q", mode, Modes())
	}
	if judged.Len() == 0 {
		return nil, fmt.Errorf("no query is judged: there is nothing to average over")
	}
	byQuery := make(map[string]*Ranking, len(rankings))
	for i := range rankings {
		q := rankings[i].Query
		if byQuery[q] != nil {
			return nil, fmt.Errorf("query %q has two rankings", q)
		}
		if len(judged.Relevant(q)) == 0 {
			return nil, fmt.Errorf("query %q is ranked but has no relevant document; do rankings and judgments belong to the same queries?", q)
		}
		byQuery[q] = &rankings[i]
	}
	r := &Report{Mode: mode, Mean: make([]float64, len(metrics)), Queries: judged.Len()}
	for _, m := range metrics {
		r.Metrics = append(r.Metrics, m.String())
	}
	var rows []rawRow
	var v view
	for _, q := range judged.Queries() {
		row := QueryScore{Query: q, Scores: make([]float64, len(metrics))}
		if ranking := byQuery[q]; ranking == nil {
			r.Missing++
		} else {
			rows = ranking.rows(rows[:0])
			v.fill(rows, judged.Query(q), mode)
			for i, m := range metrics {
				row.Scores[i] = m.score(&v)
				r.Mean[i] += row.Scores[i]
			}
		}
		r.Rows = append(r.Rows, row)
	}
	for i := range r.Mean {
		r.Mean[i] /= float64(r.Queries)
	}
	return r, nil
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
