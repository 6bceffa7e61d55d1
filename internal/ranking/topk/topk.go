// Package topk keeps the best of documents, in whatever order they are scored. It knows nothing of how they are scored.
package topk

import "slices"

// Hit is a document that a query found.
type Hit struct {
	Doc   int32
	Score float64
}

// Best are the hits that are kept: at most keep, by score, equal scores by number. Half as many more are held until all
// are cut to keep, which takes less time than a heap.
type Best struct {
	keep int
	hits []Hit
	full bool // it was cut
	last Hit  // if full: the worst hit of the last cut
}

// Reset forgets all.
func (b *Best) Reset(keep int) { b.keep, b.hits, b.full = keep, b.hits[:0], false }

// Threshold is a score below which no document is kept; of documents with that score none is kept whose number is above
// the numbers offered. false if any score is of use.
func (b *Best) Threshold() (float64, bool) { return b.last.Score, b.full }

// worse is the order of hits.
func worse(a, b Hit) bool { return a.Score < b.Score || a.Score == b.Score && a.Doc > b.Doc }

// Offer takes a hit that may be one of the best.
func (b *Best) Offer(hit Hit) {
	if b.keep == 0 || b.full && worse(hit, b.last) {
		return
	}
	b.hits = append(b.hits, hit)
	if n := len(b.hits); n > b.keep+b.keep/2 || n == b.keep && !b.full {
		b.cut()
	}
}

// cut leaves the best, by Hoare's quickselect, and finds the worst of them.
func (b *Best) cut() {
	h, at := b.hits, b.keep-1
	for from, to := 0, len(h)-1; from < to; {
		pivot, i, j := h[(from+to)/2], from, to
		for i <= j {
			for worse(pivot, h[i]) {
				i++
			}
			for worse(h[j], pivot) {
				j--
			}
			if i <= j {
				h[i], h[j] = h[j], h[i]
				i++
				j--
			}
		}
		switch {
		case at <= j:
			to = j
		case at >= i:
			from = i
		default:
			from = to
		}
	}
	b.hits, b.last, b.full = h[:b.keep], h[at], true
}

// List returns what was kept, the best first.
func (b *Best) List() []Hit {
	if len(b.hits) > b.keep {
		b.cut()
	}
	out := slices.Clone(b.hits)
	slices.SortFunc(out, func(x, y Hit) int {
		if worse(y, x) {
			return -1
		}
		return 1
	})
	return out
}
