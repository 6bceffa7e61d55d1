package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/system/words"
)

// Mode is what becomes of hypotheses that are not a document's identifier.
type Mode string

const (
	// Raw keeps them: they displace documents from the first k positions.
	Raw Mode = "raw"
	// PostFiltered removes them and keeps the order of the rest. It is the paper's
	// default. A trie-constrained ranking has none, so both modes agree.
	PostFiltered Mode = "post_filtered"
)

// Missing says what judged queries without a ranking count.
type Missing string

// The three ways: 0 everywhere, as ir_measures and trec_eval -c; nothing, as trec_eval 9
// without it; or an error, as trec_eval 10 without it.
const (
	MissingZero     Missing = "zero"
	MissingLeaveOut Missing = "leave_out"
	MissingFail     Missing = "fail"
)

// Scoring says how a run is scored.
type Scoring struct {
	Metrics []Metric
	Mode    Mode
	Missing Missing
	Own     map[string]string // documents that are left out, by the query
}

// QueryScore is one query's values.
type QueryScore struct {
	Query  string
	Scores []float64 // by metric
}

// Scores are the values of a run over all judged queries, those without a relevant document
// included, which count 0, as in trec_eval.
type Scores struct {
	Mean []float64    // by metric, over Rows
	Rows []QueryScore // in the order of the judgments

	MissingQueries    int // judged, not ranked
	UnjudgedQueries   int // ranked, not judged: not scored
	IrrelevantQueries int // judged, without a relevant document

	Ranked int // lines of the run
	Own    int // lines left out, as Own of Scoring says
}

// Score scores the rankings of a run, one by one: memory grows with the judgments and with the queries.
func (s Scoring) Score(run trec.Reader, judged *trec.Judgments) (*Scores, error) {
	out := &Scores{}
	scored := make(map[string][]float64, len(judged.Judged))
	v := view{seen: map[string]struct{}{}}
	unjudgedQuery := ""
	err := run(func(r *trec.Ranking) error {
		out.Own += r.Without(s.Own[r.Query])
		out.Ranked += len(r.Hypotheses)
		j := judged.Query(r.Query)
		if j == nil {
			unjudgedQuery = cmp.Or(unjudgedQuery, r.Query)
			out.UnjudgedQueries++
			return nil
		}
		if scored[r.Query] != nil {
			return fmt.Errorf("query %q has two rankings", r.Query)
		}
		if err := s.suits(r.Query, j.Grades); err != nil {
			return err
		}
		scored[r.Query] = s.values(&v, r, j)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(scored) == 0 {
		return nil, noneJudged(judged, unjudgedQuery)
	}
	return out, s.collect(out, scored, judged)
}

// suits says which measure has no meaning for a grade of a query.
func (s Scoring) suits(query string, grades []int) error {
	for _, m := range s.Metrics {
		if i := slices.IndexFunc(grades, func(g int) bool { return m.family.most > 0 && g > m.family.most }); i >= 0 {
			return fmt.Errorf("query %q has a judgment of grade %d, and %s is of grades to %d: leave it out of measures, or let judgments have those", query, grades[i], m, m.family.most)
		}
	}
	return nil
}

func noneJudged(judged *trec.Judgments, ranked string) error {
	switch {
	case len(judged.Judged) == 0:
		return errors.New("no query is judged: there is nothing to average over")
	case ranked == "":
		return errors.New("the run has no line: it ranks nothing")
	}
	return fmt.Errorf("no query of the run is judged: the run has %q, the judgments %q; do both use the same names? Kinds import_run and import_qrels map names", ranked, judged.Judged[0])
}

// values are a ranking's, by metric.
func (s Scoring) values(v *view, r *trec.Ranking, j *trec.Query) []float64 {
	v.fill(r, j, s.Mode)
	values := make([]float64, len(s.Metrics))
	for i, m := range s.Metrics {
		seen := v
		if m.judged {
			seen = v.onlyJudged()
		}
		values[i] = m.family.score(seen, m)
	}
	return values
}

// collect brings queries in order and averages over them.
func (s Scoring) collect(out *Scores, scored map[string][]float64, judged *trec.Judgments) error {
	var missing []string
	for _, q := range judged.Judged {
		if judged.Query(q).Relevant == 0 {
			out.IrrelevantQueries++
		}
		values, ok := scored[q]
		if !ok {
			missing = append(missing, q)
			out.MissingQueries++
			if s.Missing == MissingLeaveOut {
				continue
			}
			values = make([]float64, len(s.Metrics))
		}
		out.Rows = append(out.Rows, QueryScore{q, values})
	}
	if s.Missing == MissingFail && len(missing) > 0 {
		return fmt.Errorf("%d of %d judged queries have no ranking: %s", len(missing), len(judged.Judged), words.Quoted(missing, 5))
	}
	out.Mean, _ = out.MeanOf(func(string) bool { return true })
	return nil
}

// MeanOf is the mean, by metric, over the queries that are chosen, and their number; nil of none.
func (s *Scores) MeanOf(chosen func(query string) bool) (mean []float64, n int) {
	for _, row := range s.Rows {
		if !chosen(row.Query) {
			continue
		}
		if n++; mean == nil {
			mean = make([]float64, len(row.Scores))
		}
		for i, v := range row.Scores {
			mean[i] += v
		}
	}
	for i := range mean {
		mean[i] /= float64(n)
	}
	return mean, n
}

// fill makes the view of a ranking, in the memory of the one before.
func (v *view) fill(r *trec.Ranking, j *trec.Query, mode Mode) {
	v.grades, v.beam, v.ideal = v.grades[:0], v.beam[:0], append(v.ideal[:0], j.Grades...)
	slices.SortFunc(v.ideal, func(a, b int) int { return b - a })
	clear(v.seen)
	for _, h := range r.Hypotheses {
		v.beam = append(v.beam, h.Document != "")
		grade, judged := j.Grade(h.Document)
		repeated := false
		if mode != Raw || judged { // in raw rankings only a judged document counts once
			_, repeated = v.seen[h.Document]
			v.seen[h.Document] = struct{}{}
		}
		if h.Document == "" || repeated {
			if mode != Raw {
				continue
			}
			judged = false
		}
		if !judged {
			grade = unjudged
		}
		v.grades = append(v.grades, grade)
	}
}
