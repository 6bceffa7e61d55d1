package simulate

import (
	"fmt"
	"hash/fnv"
	"time"
)

// A draw is where all chance comes from. What is drawn for a name depends on the seed and the
// name alone: not on what was drawn before, nor on which goroutine asks first, so a schedule
// from which a step or a fault was removed has the rest as it was.
type draw uint64

// of is the draw of a name, such as "latency", "results/ab12", 3.
func (d draw) of(names ...any) draw {
	h := fnv.New64a()
	fmt.Fprint(h, uint64(d))
	for _, n := range names {
		fmt.Fprint(h, "\x00", n)
	}
	x := h.Sum64() // mixed as splitmix64 does
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return draw(x ^ x>>31)
}

// n is one of 0 … most-1.
func (d draw) n(most int) int { return int(uint64(d) >> 1 % uint64(most)) }

// chance is true in so many of 1.
func (d draw) chance(of float64) bool { return float64(uint64(d)>>11)/(1<<53) < of }

// span is a time from least on, below most, to the nanosecond: no two events fall together.
func (d draw) span(least, most time.Duration) time.Duration {
	return least + time.Duration(d.n(int(most-least)))
}
