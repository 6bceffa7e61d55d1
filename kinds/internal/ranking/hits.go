package ranking

import (
	"strconv"

	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/ranking/topk"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// together is how many hits are in memory at a time, whatever the queries are.
const together = 1 << 20

// writeHits writes the run of all questions. find returns the hits of those from..to.
func writeHits(x *step.IO, questions []inout.Question, depth int, find func(from, to int) ([][]topk.Hit, error)) error {
	return inout.WriteRuns(x, func(put func([]metrics.Ranking) error) error {
		some := max(1, together/depth)
		for from := 0; from < len(questions); from += some {
			to := min(len(questions), from+some)
			found, err := find(from, to)
			if err == nil {
				err = put(rankingsOf(questions[from:to], found))
			}
			if err != nil {
				return err
			}
			x.Report(step.Progress{Done: int64(to), Total: int64(len(questions)), Unit: "queries"})
		}
		return nil
	})
}

func rankingsOf(questions []inout.Question, found [][]topk.Hit) []metrics.Ranking {
	out := make([]metrics.Ranking, 0, len(found))
	for i, hits := range found {
		r := metrics.Ranking{Query: questions[i].Name, Hypotheses: make([]metrics.Hypothesis, len(hits))}
		for k, h := range hits {
			r.Hypotheses[k] = metrics.Hypothesis{Document: strconv.Itoa(int(h.Doc)), Score: h.Score}
		}
		out = append(out, r)
	}
	return out
}
