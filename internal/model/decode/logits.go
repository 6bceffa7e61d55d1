package decode

import (
	"fmt"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/decode/kernel"
	"github.com/redsi/redsi/internal/model/tensor"
)

// mostRows bounds the rows whose logits exist at a time on a CPU: 512 of 32,128 tokens are 66 MB.
const mostRows = 512

// logits are Scores that multiply states with the output matrix when asked.
type logits struct {
	*Searcher
	states  *tensor.Tensor // [rows, width]
	queries int
	memory  *kernel.Logits // reused by every step
}

// Top computes the rows of as many queries at a time as mostRows allows.
func (l *logits) Top(sums []float32, n int, trie *docid.Trie, nodes []docid.Node) (out [][]Candidate, err error) {
	perQuery := len(sums) / l.queries
	step := max(mostRows/perQuery, 1)
	depth, threads := l.width, tensor.NumThreads()
	err = tensor.Do(func(s *tensor.Scope) error {
		states := s.Contiguous(s.ToDType(s.Detach(l.states), tensor.F32)).Shared()
		for q := 0; q < l.queries; q += step {
			queries := min(step, l.queries-q)
			from, to := q*perQuery, (q+queries)*perQuery
			if err := l.head.Scores(l.memory, states[from*depth:to*depth], threads); err != nil {
				return err
			}
			t := &Table{Logits: l.memory.Values, Norms: l.memory.Norms, Vocab: int(l.count), Queries: queries, Maxima: l.memory.Maxima, Block: kernel.Block}
			var at []docid.Node
			if trie != nil {
				at = nodes[from:to]
			}
			part, err := t.Top(sums[from:to], n, trie, at)
			if err != nil {
				return err
			}
			for _, candidates := range part {
				for i := range candidates {
					candidates[i].Row += int32(from)
				}
			}
			out = append(out, part...)
		}
		return nil
	})
	return out, err
}

func outside(id int32, vocab int64) error {
	return fmt.Errorf("token %d of an identifier is outside the model's vocabulary of %d", id, vocab)
}
