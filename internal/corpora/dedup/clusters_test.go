package dedup

import (
	"math/rand/v2"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestClusters: records of one page or one title are in one cluster, and no others are.
func TestClusters(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 5))
		hs, pages := randomHeaders(rng, 1+rng.IntN(120))
		s := paperSources()
		s.PageID = lookupIn(pages)
		gs := groupAll(t, hs, PaperKeys(), Options{}, s)
		title, page := byName(t, gs, "title"), byName(t, gs, "page_id")
		of, n := Clusters(title, page)

		want := make([]int, len(hs)) // by repeated merging
		for i := range want {
			want[i] = i
		}
		for changed := true; changed; {
			changed = false
			for i := range hs {
				for j := range hs {
					if (title.docOf[i] == title.docOf[j] || page.docOf[i] == page.docOf[j]) && want[i] != want[j] {
						want[i] = min(want[i], want[j])
						want[j], changed = want[i], true
					}
				}
			}
		}
		seen := map[int32]bool{}
		for i := range hs {
			if seen[of[i]] = true; of[i] != of[want[i]] {
				t.Fatalf("seed %d: record %d is in cluster %d, record %d in %d", seed, i, of[i], want[i], of[want[i]])
			}
			for j := range hs {
				if of[i] == of[j] && want[i] != want[j] {
					t.Fatalf("seed %d: records %d and %d are in cluster %d", seed, i, j, of[i])
				}
			}
		}
		testkit.Is(t, len(seen), n, seed)
	}
}
