package decode

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/decode/kernel"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// mostRows bounds the rows whose logits exist at a time on a CPU: 512 of 32,128
// tokens are 66 MB.
const mostRows = 512

// Searcher decodes with a model: it has a part of the model's output matrix, and the memory that tokens are scored
// in. Scores are float32 whatever the model computes in: in half precision, with 8 or 11 bits, the scores of many
// tokens are equal. Several goroutines may use it at once.
type Searcher struct {
	m     *seq2seq.Model
	card  *card // nil on a CPU
	say   func(string)
	count int64        // rows of the output matrix, of tokens that follow one another
	width int          // of its rows
	head  *kernel.Head // nil: on a card
	steps *seq2seq.Packed

	memory sync.Pool // of *kernel.Logits that nobody uses
}

// NewSearcher is for Search and Sample, which write any token.
func NewSearcher(m *seq2seq.Model) (*Searcher, error) { return NewRanker(m, 0, m.Vocabulary().Size) }

// NewRanker is for Rank by atomic identifiers: document i is the token first+i of the model's extended vocabulary.
// The rows of the output matrix are copied, on a CPU laid out for the processor: a change of the model's weights
// needs a new Searcher.
func NewRanker(m *seq2seq.Model, first, documents int64) (*Searcher, error) {
	if documents < 1 || first < 0 || first+documents > m.Vocabulary().Size {
		return nil, fmt.Errorf("atomic identifiers: tokens %d to %d for %d documents; the model's vocabulary has %d: was it extended for this collection?",
			first, first+documents-1, documents, m.Vocabulary().Size)
	}
	x := &Searcher{m: m, steps: m.Pack(), count: documents}
	var err error
	if m.Device.IsCUDA() {
		x.card, err = newCard(m, first, documents)
	} else {
		err = tensor.Do(func(s *tensor.Scope) error {
			return s.Narrow(m.Head(), 0, first, documents).Write(reading(func(weights []float32) (err error) {
				x.width = len(weights) / int(documents)
				if m.Int8() {
					x.head, err = kernel.PackInt8(weights, int(documents), x.width)
				} else {
					x.head, err = kernel.Pack(weights, int(documents), x.width, m.HalfScores && m.Compute == tensor.BF16)
				}
				return err
			}))
		})
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Warn is called with a sentence when a card has no room for a batch.
func (x *Searcher) Warn(say func(string)) { x.say = say }

// Close frees what is kept beside the model; no search may be running.
func (x *Searcher) Close() {
	x.steps.Close()
	if x.card != nil {
		x.card.close()
	}
}

// logits are Scores that multiply states with the output matrix when asked.
type logits struct {
	*Searcher
	states  *tensor.Tensor // [rows, width]
	queries int
	memory  *kernel.Logits // reused by every step
}

// Top implements Scores.
func (l *logits) Top(sums []float32, n int) ([][]Candidate, error) {
	return l.chunks(len(sums), func(from, to int, t *Table) ([][]Candidate, error) { return t.Top(sums[from:to], n) })
}

// Along implements Scores.
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
		return s.ToDType(s.Detach(l.states), tensor.F32).Write(reading(func(states []float32) error {
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
		}))
	})
	return out, err
}

// reading is a writer that looks at a tensor's float32 elements where they are; f
// must not keep them.
type reading func(values []float32) error

// Write implements io.Writer.
func (r reading) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, r(nil)
	}
	return len(p), r(unsafe.Slice((*float32)(unsafe.Pointer(&p[0])), len(p)/4))
}

// outside is the error of an identifier's token.
func outside(id int32, vocab int64) error {
	return fmt.Errorf("token %d of an identifier is outside the model's vocabulary of %d", id, vocab)
}
