package seq2seq

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// draws is a batch of n examples: documents of a length among queries whose lengths vary, and labels of some lengths.
func draws(random *rand.Rand, n int, document, shortest, longest int) (b Batch) {
	ids := func(n int) []int32 { return slices.Repeat([]int32{7}, n) }
	for range n {
		in := min(max(8, int(random.NormFloat64()*3+14)), 30)
		if random.IntN(4) == 0 {
			in = document
		}
		b.Inputs = append(b.Inputs, ids(in))
		b.Labels = append(b.Labels, ids(shortest+random.IntN(longest-shortest+1)))
	}
	return b
}

// TestFill: a batch that is filled up has its examples and then padding, no sequence of which is longer than an
// example; rows grow by a 16th or little, and batches of a sort have few shapes.
func TestFill(t *testing.T) {
	for _, c := range []struct{ n, document, shortest, longest, shapes int }{
		{128, 35, 4, 7, 40}, {128, 67, 1, 1, 30}, {128, 67, 2, 2, 30}, {128, 515, 4, 9, 90}, {512, 67, 4, 7, 30},
		{32, 35, 3, 14, 250}, {4, 67, 1, 3, 250}, {1, 35, 5, 6, 60}, {1, 1, 1, 1, 30},
	} {
		random, seen := rand.New(rand.NewPCG(1, 2)), map[Shapes]bool{}
		var rows, all int64
		for range 1000 {
			b := draws(random, c.n, c.document, c.shortest, c.longest)
			filled, most := fill(b, 0)
			shapes := Shapes{Examples: int64(len(filled.Inputs)), LongestInput: most.inputs, LongestLabel: most.labels}
			if len(filled.Labels) != len(filled.Inputs) {
				t.Fatalf("%d inputs, %d labels", len(filled.Inputs), len(filled.Labels))
			}
			for i, side := range []struct {
				before, after [][]int32
				places        int64
				of            int32
				sum           *int64
			}{{b.Inputs, filled.Inputs, most.inputs, 0, &shapes.Inputs}, {b.Labels, filled.Labels, most.labels, Ignore, &shapes.Labels}} {
				s := sideOf(side.before)
				if side.places < s.longest || side.places > s.longest+max(3, s.longest/32) {
					t.Fatalf("%d places for %d rows", side.places, s.longest)
				}
				for k, q := range side.after {
					*side.sum += int64(len(q))
					if k < c.n {
						if !slices.Equal(q, side.before[k]) {
							t.Fatalf("side %d: example %d has changed", i, k)
						}
						continue
					}
					if len(q) == 0 || int64(len(q)) > s.longest || slices.ContainsFunc(q, func(id int32) bool { return id != side.of }) {
						t.Fatalf("side %d: padding %v beside examples of %d", i, q, s.longest)
					}
				}
				added := int64(len(side.after) - c.n)
				if grown := *side.sum - s.rows; grown > added+max(7, s.rows/16) {
					t.Fatalf("side %d: %d rows and %d more, in %d sequences", i, s.rows, grown, added)
				}
				rows, all = rows+s.rows, all+*side.sum
			}
			seen[shapes] = true
		}
		t.Logf("%+v: %d shapes, %.1f %% more rows", c, len(seen), 100*float64(all-rows)/float64(rows))
		if len(seen) > c.shapes {
			t.Errorf("%+v: %d shapes", c, len(seen))
		}
	}
}
