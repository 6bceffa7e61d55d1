package cores

import "testing"

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
		if k.Threads() != c.want || set != c.want {
			t.Errorf("%+v: %d threads, %d were set", c, k.Threads(), set)
		}
		for _, f := range done {
			f()
			f() // ends once
		}
		if k.computing != 0 || k.others != 0 {
			t.Errorf("%+v: %d and %d steps are left", c, k.computing, k.others)
		}
	}
}
