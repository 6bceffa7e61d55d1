package msmarco

import (
	"container/heap"

	"github.com/redsi/redsi/internal/corpora/splitmix"
)

// Sample chooses n of the numbers that it is offered: those that a hash by seed puts first.
// So the choice depends on neither their order nor the file that they are in. Memory is 8
// bytes for each of n.
type Sample struct {
	n    int
	seed uint64
	top  hashes // the n smallest so far, the largest first
}

// NewSample chooses n numbers; all of them, if n is negative.
func NewSample(n int, seed uint64) *Sample { return &Sample{n: n, seed: seed} }

// Offer takes a number that was not offered before and reports whether it is among the
// first n so far.
func (s *Sample) Offer(id int64) bool {
	if s.n < 0 {
		return true
	}
	h := s.hash(id)
	switch {
	case len(s.top) < s.n:
		heap.Push(&s.top, h)
	case s.n == 0 || h > s.top[0]:
		return false
	default:
		s.top[0] = h
		heap.Fix(&s.top, 0)
	}
	return true
}

// Has reports whether a number that was offered is chosen, once all were.
func (s *Sample) Has(id int64) bool {
	return s.n < 0 || len(s.top) > 0 && s.hash(id) <= s.top[0]
}

// hash is different for different numbers: Finish is a bijection.
func (s *Sample) hash(id int64) uint64 {
	return splitmix.Finish(uint64(id) ^ splitmix.Finish(s.seed+splitmix.Gamma))
}

// hashes is a heap.Interface.
type hashes []uint64

func (h hashes) Len() int           { return len(h) }
func (h hashes) Less(i, j int) bool { return h[i] > h[j] }
func (h hashes) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *hashes) Push(v any)        { *h = append(*h, v.(uint64)) }
func (h *hashes) Pop() any {
	last := len(*h) - 1
	v := (*h)[last]
	*h = (*h)[:last]
	return v
}
