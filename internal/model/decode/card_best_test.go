//go:build linux

package decode

import (
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid"
	seeded "github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// tied are numbers of few values, so that most candidates have equals.
func tied(d *seeded.Numbers, n, values int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = -float32(d.Below(values))
	}
	return out
}

// TestTies: a card's candidates are the CPU's, in its order, whatever is equal and
// whether blocks are chosen or all are sorted.
func TestTies(t *testing.T) {
	var d seeded.Numbers
	looked := map[bool]int{}
	for range 300 {
		queries, width, vocab, n := 1+d.Below(3), 1+d.Below(5), 1+d.Below(200), 1+d.Below(30)
		rows := queries * width
		table := &Table{Logits: tied(&d, rows*vocab, 1+d.Below(9)), Norms: make([]float32, rows), Vocab: vocab, Queries: queries}
		sums := tied(&d, rows, 3)
		for i := range sums {
			if d.Below(5) == 0 {
				sums[i] = float32(math.Inf(-1))
			}
		}
		want := testkit.Value(table.Top(sums, n, nil, nil))(t)
		var got [][]Candidate
		tensortest.Run(t, func(s *tensor.Scope) {
			on := s.Upload(tensor.CUDA(0), packed(sums, 0, math.Float32bits))[0]
			scores := s.FromFloat32s(table.Logits, tensor.CUDA(0), int64(rows), int64(vocab))
			found := cardBest{s, queries, n}.of(scores, floats(s, on, rows))
			looked[found.blocks != nil]++
			got = found.candidates(n, func(query int, at int64) (row, token int64) {
				return int64(query*width) + at/found.columns, at % found.columns
			})
		})
		for q := range want {
			if !slices.Equal(got[q], want[q]) {
				t.Fatalf("%d queries of %d rows of %d, the best %d: query %d is %v, want %v", queries, width, vocab, n, q, got[q], want[q])
			}
		}
	}
	if min(looked[true], looked[false]) < 20 {
		t.Errorf("blocks were chosen %d times, all sorted %d times", looked[true], looked[false])
	}
}

// TestTrieTies: along a trie the same, with nodes of very different widths and rows
// that have none.
func TestTrieTies(t *testing.T) {
	var d seeded.Numbers
	for range 60 {
		seen := map[[3]int32]bool{}
		var ids [][]int32
		for range 1 + d.Below(80) {
			id := [3]int32{int32(2 + d.Below(20)), int32(2 + d.Below(1+d.Below(50))), 1}
			if !seen[id] {
				seen[id] = true
				ids = append(ids, slices.Clone(id[:]))
			}
		}
		trie := trieOf(t, ids)
		queries, width, n := 1+d.Below(3), 1+d.Below(6), 1+d.Below(20)
		rows, vocab := queries*width, 60
		table := &Table{Logits: tied(&d, rows*vocab, 4), Norms: make([]float32, rows), Vocab: vocab, Queries: queries}
		nodes, sums := make([]docid.Node, rows), tied(&d, rows, 3)
		active := make([]*search, queries)
		b := NewBeam(3, trie)
		for q := range active {
			active[q] = newSearch(&b, q)
			active[q].beams = nil
			for r := range width {
				row := q*width + r
				nodes[row] = -1
				if r == len(active[q].beams) && (r == 0 || q == 0 || d.Below(4) > 0) {
					nodes[row] = docid.Root
					if d.Below(3) > 0 {
						nodes[row], _ = trie.Step(docid.Root, ids[d.Below(len(ids))][0])
					}
					active[q].beams = append(active[q].beams, beam{sum: sums[row], node: nodes[row]})
				} else {
					sums[row] = float32(math.Inf(-1))
				}
			}
		}
		if _, _, _, of := gather(active, 0); !slices.Equal(of, nodes) {
			t.Fatalf("beams are at %v, want %v", of, nodes)
		}
		want := testkit.Value(table.Top(sums, n, trie, nodes))(t)
		var got [][]Candidate
		o := &Searcher{m: &seq2seq.Model{Device: tensor.CUDA(0)}, count: int64(vocab)}
		tensortest.Run(t, func(s *tensor.Scope) {
			o.card = &card{scope: s, tries: map[*docid.Trie]*tensor.Tensor{}}
			scores := s.FromFloat32s(table.Logits, tensor.CUDA(0), int64(rows), int64(vocab))
			step := &cardStep{session: &session{searcher: o}, queries: queries, computed: true, scores: scores}
			got = testkit.Value(step.Top(sums, n, trie, nodes))(t)
		})
		for q := range want {
			if !slices.Equal(got[q], want[q]) {
				t.Fatalf("%d rows of %v, the best %d: query %d is %v, want %v", width, nodes, n, q, got[q], want[q])
			}
		}
	}
}
