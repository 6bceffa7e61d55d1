package dedup

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/pytext"
	"github.com/redsi/redsi/internal/system/testkit"
)

// The size of Natural Questions (tab:dedup-counts).
const nqTrain, nqDev = 307_373, 7_830

// syntheticHeader is record i of a collection with NQ's proportions: 2.9 records a
// page, 1.36 a revision, 1 % with another title than the page's first.
func syntheticHeader(h *nq.Header, i int) {
	mix := func(x uint64) uint64 {
		x = (x ^ x>>31) * 0x9e3779b97f4a7c15
		return x ^ x>>29
	}
	rev := mix(uint64(i)) % 231_695
	page := mix(rev+1) % 115_000
	title := fmt.Sprintf("Article %d of the (%d) list", page, page%977)
	if rev%100 == 0 {
		title += " – renamed"
	}
	*h = nq.Header{
		ExampleID: int64(mix(uint64(i) + 7)), Split: nq.Train,
		Question: fmt.Sprintf("who is the author of article number %d in the list", i),
		URL:      fmt.Sprintf("https://en.wikipedia.org//w/index.php?title=Article_%d_of_the_(%d)_list&amp;oldid=%d", page, page%977, rev+700_000_000),
		Title:    title, H1: title, HasH1: true,
	}
	if i >= nqTrain {
		h.Split = nq.Dev
	}
	h.Text4K[0], h.Text4K[1], h.Text4K[2], h.Text4K[3] = byte(rev), byte(rev>>8), byte(rev>>16), 1
	h.Text4KCased = h.Text4K
}

// BenchmarkTenKeys groups 315,203 records under all ten operators in one pass and
// reports the memory taken from the system, as docs/performance.md has them.
func BenchmarkTenKeys(b *testing.B) {
	s := Sources{BertNormalize: pytext.Lower, PageID: func(oldid uint64) (uint64, bool) { return oldid % 109_229, oldid%2000 != 0 }}
	for b.Loop() {
		g, err := NewGrouper(scratch(b), PaperKeys(), Options{RecordOrder: TrainFirst}, s)
		testkit.None(b, err)
		for i := range nqTrain + nqDev {
			var h nq.Header
			syntheticHeader(&h, i)
			testkit.None(b, g.Add(&h))
		}
		gs, err := g.Groupings()
		testkit.None(b, err)
		for _, g := range gs {
			if g.Counts().Union == 0 {
				b.Fatal(g.Key.Name)
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB-from-system")
}
