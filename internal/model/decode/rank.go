package decode

import (
	"context"
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/lists"
)

// Ranked is an entry of a ranking.
type Ranked struct {
	Document int     // index of the document; -1 if the hypothesis is not an identifier
	Score    float64 // larger is better
	Tokens   []int32 // what was generated; nil for a document found without a search
}

// Result is what was found for a query: the hypotheses in order of score, invalid
// ones among them, no document twice.
type Result struct {
	Ranking []Ranked
	Invalid int // hypotheses that are not a document's identifier
}

// Valid returns the ranking without the hypotheses that are not an identifier: the
// scores and the order of the rest are unchanged (paper, "Post-filtered decoding").
func (r *Result) Valid() []Ranked {
	return lists.Filter(r.Ranking, func(h Ranked) bool { return h.Document >= 0 })
}

// Rank names the documents of hypotheses. find returns the document of a complete
// token sequence, as docid.Trie.Find does. Of hypotheses for one document only the
// first counts.
func Rank(hypotheses []Hypothesis, find func(tokens []int32) (document int, ok bool)) Result {
	var r Result
	seen := make(map[int]struct{}, len(hypotheses))
	for _, h := range hypotheses {
		document, ok := find(h.Tokens)
		if !ok {
			r.Invalid++
			r.Ranking = append(r.Ranking, Ranked{-1, h.Score, h.Tokens})
			continue
		}
		if _, ok := seen[document]; ok {
			continue
		}
		seen[document] = struct{}{}
		r.Ranking = append(r.Ranking, Ranked{document, h.Score, h.Tokens})
	}
	return r
}

// Rank returns the k best documents of each query by the first decoder step's scores (paper, "Retrieval"), batch
// queries at a time; 0: as many as a card has room for. Only the documents' rows of the output matrix are computed, so
// a score is log p(document | query) among documents, in the order of the whole vocabulary. Ties: the lower
// document first. In F16 a query whose scores are not numbers has no ranking; in other types such scores are ErrNaN.
// report, which may be nil, hears how many queries are done.
func (x *Searcher) Rank(ctx context.Context, queries [][]int32, k, batch int, report func(done int)) ([]Result, error) {
	if k < 1 {
		return nil, fmt.Errorf("atomic identifiers: the %d best documents; at least 1 is needed", k)
	}
	k = int(min(int64(k), x.count))
	return each(ctx, x, queries, batch, Load{Beams: 1, Tokens: 1}, report, func(c *session, part []int) ([]Result, error) {
		scores, err := c.Step(ctx, part, slices.Repeat([]int32{int32(x.m.Vocabulary().Start)}, len(part)), nil)
		if err != nil {
			return nil, err
		}
		best, err := scores.Top(make([]float32, len(part)), k)
		if err != nil {
			return nil, err
		}
		out := make([]Result, len(part))
		for i, candidates := range best {
			if len(candidates) == 0 && x.m.Compute != tensor.F16 {
				return nil, ErrNaN
			}
			for _, d := range candidates {
				out[i].Ranking = append(out[i].Ranking, Ranked{Document: int(d.Token), Score: float64(d.Score)})
			}
		}
		return out, nil
	})
}
