package decode

import (
	"fmt"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/decode/kernel"
	"github.com/redsi/redsi/internal/model/tensor"
)

// mostRows bounds the rows whose logits exist at a time on a CPU: 512 of 32,128
// tokens are 66 MB.
const mostRows = 512

// logits are Scores that multiply states with the output matrix when asked.
type logits struct {
	*Searcher
	states  *tensor.Tensor // [rows, width]
	queries int
	memory  *kernel.Logits // reused by every step
}

func (l *logits) Top(sums []float32, n int) ([][]Candidate, error) {
	return l.chunks(len(sums), func(from, to int, t *Table) ([][]Candidate, error) { return t.Top(sums[from:to], n) })
}

func (l *logits) Along(trie *docid.Trie, nodes []docid.Node, sums []float32, n int) ([][]Candidate, error) {
	return l.chunks(len(sums), func(from, to int, t *Table) ([][]Candidate, error) {
		return t.Along(trie, nodes[from:to], sums[from:to], n)
	})
}

// chunks calls f for the rows of as many queries at a time as mostRows allows.
func (l *logits) chunks(rows int, f func(from, to int, t *Table) ([][]Candidate, error)) (out [][]Candidate, err error) {
	perQuery := rows / l.queries
	step := max(mostRows/perQuery, 1)
	depth, threads := l.width, tensor.NumThreads()
	err = tensor.Do(func(s *tensor.Scope) error {
		states := s.Contiguous(s.ToDType(s.Detach(l.states), tensor.F32)).Shared()
		for q := 0; q < l.queries; q += step {
			n := min(step, l.queries-q)
			from, to := q*perQuery, (q+n)*perQuery
			if err := l.head.Scores(l.memory, states[from*depth:to*depth], threads); err != nil {
				return err
			}
			t := &Table{Logits: l.memory.Values, Norms: l.memory.Norms, Vocab: int(l.count), Queries: n, Maxima: l.memory.Maxima, Block: kernel.Block}
			part, err := f(from, to, t)
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
