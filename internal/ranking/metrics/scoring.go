package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/qrels"
	"github.com/redsi/redsi/internal/system/words"
)

// Ties says how documents of equal score are ordered.
type Ties string

const (
	// ByRank orders as the lines stand, which is what a system ranked.
	ByRank Ties = "rank"
	// ByTrecEval orders as trec_eval does, whatever the ranks: by score, read as float32,
	// then by name, both descending.
	ByTrecEval Ties = "trec_eval"
)

// Missing says what judged queries without a ranking count.
type Missing string

// The three ways: 0 everywhere, as ir_measures and trec_eval -c; nothing, as trec_eval
// without it; or an error.
const (
	MissingZero     Missing = "zero"
	MissingLeaveOut Missing = "leave_out"
	MissingFail     Missing = "fail"
)

// Scoring says how a run is scored.
type Scoring struct {
	Metrics []Metric
	Mode    Mode
	Ties    Ties
	Missing Missing
}

// QueryScore is one query's values.
type QueryScore struct {
	Query  string
	Scores []float64 // by metric
}

// Scores are the values of a run over queries: of Score over all judged ones, those without a
// relevant document included, which count 0, as in trec_eval.
type Scores struct {
	Mean []float64    // by metric, over Rows
	Rows []QueryScore // in the order of the judgments

	MissingQueries    int // judged, not ranked
	UnjudgedQueries   int // ranked, not judged: not scored
	IrrelevantQueries int // judged, without a relevant document

	Ranked      int // lines of the run
	Tied        int // lines whose score, as float32, is that of the line above
	TiedQueries int // queries that have some
}

// Score reads a run query by query and scores it. Memory grows with the judgments, with
// the queries and with the longest ranking.
func (s Scoring) Score(run io.Reader, judged *qrels.Judgments) (*Scores, error) {
	out := &Scores{}
	scored := make(map[string][]float64, len(judged.Judged()))
	reader := newRunReader(run)
	var r rawRanking
	var v view
	unjudgedQuery := ""
	for {
		err := reader.next(&r)
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("run: %w", err)
		}
		out.Ranked += len(r.rows)
		out.countTies(r.rows)
		j := judged.Query(r.query)
		if j == nil {
			unjudgedQuery = cmp.Or(unjudgedQuery, r.query)
			out.UnjudgedQueries++
			continue
		}
		if s.Ties == ByTrecEval {
			slices.SortStableFunc(r.rows, asTrecEval)
		}
		scored[r.query] = s.values(&v, r.rows, j)
	}
	if len(scored) == 0 {
		return nil, noneJudged(judged, unjudgedQuery)
	}
	return out, s.collect(out, scored, judged, judged.Judged())
}

func noneJudged(judged *qrels.Judgments, ranked string) error {
	switch {
	case len(judged.Judged()) == 0:
		return errors.New("no query is judged: there is nothing to average over")
	case ranked == "":
		return errors.New("the run has no line: it ranks nothing")
	}
	return fmt.Errorf("no query of the run is judged: the run has %q, the judgments %q; do both use the same names? Kinds import_run and import_qrels map names", ranked, judged.Judged()[0])
}

// values are a ranking's, by metric.
func (s Scoring) values(v *view, rows []rawRow, j *qrels.Query) []float64 {
	v.fill(rows, j, s.Mode)
	values := make([]float64, len(s.Metrics))
	for i, m := range s.Metrics {
		values[i] = m.family.score(v, m)
	}
	return values
}

// collect brings queries in order and averages over them.
func (s Scoring) collect(out *Scores, scored map[string][]float64, judged *qrels.Judgments, queries []string) error {
	out.Mean = make([]float64, len(s.Metrics))
	var missing []string
	for _, q := range queries {
		if len(judged.Relevant(q)) == 0 {
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
		for i, v := range values {
			out.Mean[i] += v
		}
	}
	if s.Missing == MissingFail && len(missing) > 0 {
		return fmt.Errorf("%d of %d judged queries have no ranking: %s", len(missing), len(queries), words.Quoted(missing, 5))
	}
	for i := range out.Mean {
		out.Mean[i] /= float64(len(out.Rows))
	}
	return nil
}

func (s *Scores) countTies(rows []rawRow) {
	before := s.Tied
	for i := 1; i < len(rows); i++ {
		if float32(rows[i].score) == float32(rows[i-1].score) {
			s.Tied++
		}
	}
	if s.Tied > before {
		s.TiedQueries++
	}
}

// asTrecEval is how trec_eval orders.
func asTrecEval(a, b rawRow) int {
	if c := cmp.Compare(float32(b.score), float32(a.score)); c != 0 {
		return c
	}
	return strings.Compare(b.name, a.name)
}

// fill makes the view of a ranking, in the memory of the one before.
func (v *view) fill(rows []rawRow, j *qrels.Query, mode Mode) {
	v.grades, v.beam, v.ideal = v.grades[:0], v.beam[:0], append(v.ideal[:0], j.Grades()...)
	slices.SortFunc(v.ideal, func(a, b int) int { return b - a })
	for _, row := range rows {
		grade, isDocument := unjudged, row.document != ""
		if isDocument {
			if said, ok := j.Grade(row.document); ok {
				grade = said
			}
		}
		v.beam = append(v.beam, isDocument || row.again)
		if isDocument || mode == Raw {
			v.grades = append(v.grades, grade)
		}
	}
}
