package decode

import (
	"context"
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// Ranker ranks documents by atomic identifiers: document i is the token first+i of
// a model's extended vocabulary. Several goroutines may use it at once.
type Ranker struct{ *output }

// NewRanker takes a copy of the documents' rows of the model's output matrix: it
// must be made anew when the model's weights have changed.
func NewRanker(m *seq2seq.Model, first, documents int64) (*Ranker, error) {
	if documents < 1 || first < 0 || first+documents > m.Vocabulary().Size {
		return nil, fmt.Errorf("atomic identifiers: tokens %d to %d for %d documents; the model's vocabulary has %d: was it extended for this collection?",
			first, first+documents-1, documents, m.Vocabulary().Size)
	}
	o, err := newOutput(m, first, documents)
	if err != nil {
		return nil, err
	}
	return &Ranker{o}, nil
}

// Rank returns the k best documents of each query by the first decoder step's
// scores (paper, "Retrieval"), batch queries at a time; 0: as many as a card has room
// for. Only the documents' rows of the output matrix are computed, so a score is
// log p(document | query) among documents; the order is that of the whole vocabulary.
// Ties: the lower document first. In F16 a query whose scores are not numbers has no ranking; else that
// is ErrNaN. report, which may be nil, hears how many queries are done.
func (x *Ranker) Rank(ctx context.Context, queries [][]int32, k, batch int, report func(done int)) ([]Result, error) {
	if k < 1 {
		return nil, fmt.Errorf("atomic identifiers: the %d best documents; at least 1 is needed", k)
	}
	m := x.output.m
	k = int(min(int64(k), x.output.count))
	return each(ctx, x.output, queries, batch, Load{Beams: 1, Tokens: 1}, report, func(c *session, part []int) ([]Result, error) {
		scores, err := c.Step(ctx, part, slices.Repeat([]int32{int32(m.Vocabulary().Start)}, len(part)), nil)
		if err != nil {
			return nil, err
		}
		best, err := scores.Top(make([]float32, len(part)), k)
		if err != nil {
			return nil, err
		}
		out := make([]Result, len(part))
		for i, candidates := range best {
			if len(candidates) == 0 && m.Compute != tensor.F16 {
				return nil, ErrNaN
			}
			for _, d := range candidates {
				out[i].Ranking = append(out[i].Ranking, Ranked{Document: int(d.Token), Score: float64(d.Score)})
			}
		}
		return out, nil
	})
}
