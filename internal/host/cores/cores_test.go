package cores

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestDivide: what computes has the free cores, half of them at least, in equal shares.
func TestDivide(t *testing.T) {
	for _, c := range []struct{ total, fixed, computing, others, want int }{
		{8, 0, 0, 0, 8}, {8, 0, 1, 0, 8}, {8, 0, 1, 3, 5}, {8, 0, 1, 20, 4}, {8, 0, 2, 0, 4}, {8, 0, 3, 0, 2}, {8, 0, 20, 20, 1},
		{2, 0, 1, 0, 2}, {2, 0, 1, 2, 1}, {1, 0, 1, 4, 1}, {0, 0, 1, 0, 1}, {3, 0, 1, 9, 2},
		{8, 3, 1, 0, 3}, {8, 3, 4, 9, 3},
	} {
		set := 0
		k := New(c.total, c.fixed, func(n int) { set = n })
		var done []func()
		for range c.computing {
			done = append(done, k.Take(true))
		}
		for range c.others {
			done = append(done, k.Take(false))
		}
		testkit.Is(t, set, c.want, c)
		for _, f := range done {
			f()
			f() // ends once
		}
		testkit.Is(t, k.computing, 0, c)
		testkit.Is(t, k.others, 0, c)
	}
}
