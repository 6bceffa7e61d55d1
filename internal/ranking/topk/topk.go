// Package topk keeps the best of documents that are scored in the order of their numbers.
// It knows nothing of how they are scored.
package topk

import (
	"cmp"
	"slices"
)

// Hit is a document that a query found.
type Hit struct {
	Doc   int32
	Score float64
}

// Best are the hits that are kept: at most that many, by score, equal scores by number.
type Best struct {
	keep int
	heap []Hit // the worst first
}

// Reset forgets all.
func (b *Best) Reset(keep int) { b.keep, b.heap = keep, b.heap[:0] }

// Threshold is a score that is of no use to a document whose number is above those offered;
// false if any score is.
func (b *Best) Threshold() (float64, bool) {
	if len(b.heap) < b.keep || b.keep == 0 {
		return 0, false
	}
	return b.heap[0].Score, true
}

// worse orders the heap.
func worse(a, b Hit) bool { return a.Score < b.Score || a.Score == b.Score && a.Doc > b.Doc }

// Offer takes a hit if it is one of the best.
func (b *Best) Offer(hit Hit) {
	h := b.heap
	if len(h) < b.keep {
		h = append(h, hit)
		for i := len(h) - 1; i > 0 && worse(h[i], h[(i-1)/2]); i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		b.heap = h
		return
	}
	if b.keep == 0 || !worse(h[0], hit) {
		return
	}
	h[0] = hit
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if worse(h[c], h[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// List returns what was kept, the best first.
func (b *Best) List() []Hit {
	out := slices.Clone(b.heap)
	slices.SortFunc(out, func(x, y Hit) int { return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Doc, y.Doc)) })
	return out
}
