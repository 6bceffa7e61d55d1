package metrics

import (
	"fmt"
	"slices"
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
func Evaluate(metrics []Metric, mode Mode, rankings []Ranking, qrels *Qrels) (*Report, error) {
	if !slices.Contains(Modes(), mode) {
		return nil, fmt.Errorf("evaluation mode %q is unknown; there are %q", mode, Modes())
	}
	if qrels.Len() == 0 {
		return nil, fmt.Errorf("no query is judged: there is nothing to average over")
	}
	byQuery := make(map[string]*Ranking, len(rankings))
	for i := range rankings {
		q := rankings[i].Query
		if byQuery[q] != nil {
			return nil, fmt.Errorf("query %q has two rankings", q)
		}
		if len(qrels.Relevant(q)) == 0 {
			return nil, fmt.Errorf("query %q is ranked but has no relevant document; do rankings and judgments belong to the same queries?", q)
		}
		byQuery[q] = &rankings[i]
	}
	r := &Report{Mode: mode, Mean: make([]float64, len(metrics)), Queries: qrels.Len()}
	for _, m := range metrics {
		r.Metrics = append(r.Metrics, m.String())
	}
	for _, q := range qrels.Queries() {
		row := QueryScore{Query: q, Scores: make([]float64, len(metrics))}
		if ranking := byQuery[q]; ranking == nil {
			r.Missing++
		} else {
			v := qrels.view(ranking, mode)
			for i, m := range metrics {
				row.Scores[i] = m.score(v)
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

// view is a ranking as measures see it.
func (q *Qrels) view(r *Ranking, mode Mode) *view {
	v := &view{ideal: q.ideal(r.Query)}
	for _, h := range r.Hypotheses {
		v.beam = append(v.beam, h.Document != "")
	}
	for _, d := range r.Documents(mode) {
		grade, ok := q.Grade(r.Query, d)
		if !ok {
			grade = unjudged
		}
		v.grades = append(v.grades, grade)
	}
	return v
}

// ideal is the grades of all judgments of a query, best first.
func (q *Qrels) ideal(query string) []int {
	j := q.judged[query]
	if j == nil {
		return nil
	}
	grades := slices.Clone(j.grades)
	slices.SortFunc(grades, func(a, b int) int { return b - a })
	return grades
}
