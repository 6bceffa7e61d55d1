package topk

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBest keeps what sorting all and cutting keeps.
func TestBest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, keep := range []int{0, 1, 2, 7, 100, 1000} {
		b := &Best{}
		b.Reset(5)
		b.Offer(Hit{9, 9})
		b.Reset(keep)
		var all []Hit
		for d := range int32(500) {
			h := Hit{d, float64(r.IntN(40) - 20)}
			if low, full := b.Threshold(); full && h.Score <= low {
				before := b.List()
				if b.Offer(h); !slices.Equal(b.List(), before) {
					t.Fatalf("%v was taken, the threshold was %v", h, low)
				}
			}
			b.Offer(h)
			all = append(all, h)
		}
		mixed := &Best{}
		mixed.Reset(keep)
		for _, i := range r.Perm(len(all)) {
			mixed.Offer(all[i])
		}
		slices.SortStableFunc(all, func(x, y Hit) int { return cmp.Compare(y.Score, x.Score) })
		if got, want := b.List(), all[:min(keep, len(all))]; !slices.Equal(got, want) {
			t.Errorf("best %d: %v\nwant %v", keep, got, want)
		} else if got := mixed.List(); !slices.Equal(got, want) {
			t.Errorf("best %d in another order: %v\nwant %v", keep, got, want)
		}
	}
}
