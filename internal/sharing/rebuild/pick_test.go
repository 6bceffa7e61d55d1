package rebuild

import (
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestPick: the same seed picks the same, another one others, none twice.
func TestPick(t *testing.T) {
	var list []int
	for i := range 100 {
		list = append(list, 3*i)
	}
	first := pick(list, 10, 42)
	if !slices.Equal(first, pick(list, 10, 42)) || slices.Equal(first, pick(list, 10, 43)) {
		t.Error("a seed is not what steps are picked by")
	}
	if !slices.IsSorted(first) || len(slices.Compact(slices.Clone(first))) != 10 {
		t.Errorf("not in the order of the plan, or twice: %v", first)
	}
	times := map[int]int{} // each as likely as any other: of 1,000 draws of 10, some 100 each
	for seed := range uint64(1000) {
		for _, i := range pick(list, 10, seed) {
			if i%3 != 0 {
				t.Fatal("picked what is not there")
			}
			times[i]++
		}
	}
	for i, n := range times {
		testkit.That(t, n >= 60 && n <= 140, i, "was picked", n, "times")
	}
}
