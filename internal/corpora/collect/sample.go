package collect

import (
	"container/heap"
	"hash/fnv"

	"github.com/redsi/redsi/internal/corpora/splitmix"
)

// hashOf places a name in an order given by seed.
func hashOf(name string, seed uint64) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return splitmix.Finish(h.Sum64() ^ splitmix.Finish(seed+splitmix.Gamma))
}

// sample keeps the n smallest hashes offered, in any order: the sample of all files is the sample of the files' samples.
// Memory is 8n bytes.
type sample struct {
	n   int
	top hashes // the n smallest so far, the largest first
}

// offer takes a hash and reports whether it is among the n smallest so far.
func (s *sample) offer(h uint64) bool {
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

// has reports whether a hash is chosen, once all were offered.
func (s *sample) has(h uint64) bool { return len(s.top) > 0 && h <= s.top[0] }

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
