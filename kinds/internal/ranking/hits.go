package ranking

import (
	"strconv"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/ranking/topk"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// together is how many hits are in memory at a time, whatever the queries are.
const together = 1 << 20

// written counts what a run has.
type written struct {
	Hits      int64 `json:"hits"`                          // lines of the run
	Identical int   `json:"identical_documents,omitempty"` // left out, as they have the query's name
	unfound   int   // queries without a hit
}

// writeHits writes the run of all questions, without their own documents. find returns the hits
// of the questions from..to, at least depth of them if there are as many, and one more of a
// question with a document of its own.
func writeHits(x *step.IO, questions []inout.Question, depth int, own map[string]string, find func(from, to int) ([][]topk.Hit, error)) (n written, err error) {
	return n, inout.WriteRuns(x, func(put func([]trec.Ranking) error) error {
		some := max(1, together/depth)
		for from := 0; from < len(questions); from += some {
			to := min(len(questions), from+some)
			found, err := find(from, to)
			if err == nil {
				err = put(n.rankings(questions[from:to], found, depth, own))
			}
			if err != nil {
				return err
			}
			x.Report(step.Progress{Done: int64(to), Total: int64(len(questions)), Unit: "queries"})
		}
		return nil
	})
}

func (n *written) rankings(questions []inout.Question, found [][]topk.Hit, depth int, own map[string]string) []trec.Ranking {
	out := make([]trec.Ranking, 0, len(found))
	for i, hits := range found {
		r := trec.Ranking{Query: questions[i].Name, Hypotheses: make([]trec.Hypothesis, len(hits))}
		for k, h := range hits {
			r.Hypotheses[k] = trec.Hypothesis{Document: strconv.Itoa(int(h.Doc)), Score: h.Score}
		}
		n.Identical += r.Without(own[r.Query])
		r.Hypotheses = r.Hypotheses[:min(depth, len(r.Hypotheses))]
		n.Hits += int64(len(r.Hypotheses))
		if len(r.Hypotheses) == 0 {
			n.unfound++
		}
		out = append(out, r)
	}
	return out
}
