package workflows

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/runs"
)

// line is a plan of so many steps, each after the one before it.
func line(n int) []Head {
	heads := make([]Head, n)
	for i := 1; i < n; i++ {
		heads[i].Deps = []int{i - 1}
	}
	return heads
}

func all(int) bool { return true }

func TestFollowing(t *testing.T) {
	p := newProgress(line(10))
	if got := p.following([]int{0}, 4, all); !slices.Equal(got, []int{1, 2, 3, 4}) {
		t.Errorf("of a line: %v", got)
	}
	p.hold(3)
	if got := p.following([]int{0}, 100, all); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("up to one that is held: %v", got)
	}
	// 0 and 1 are read by 2, which 3 reads; 4 reads 1 and a step that has a result.
	p = newProgress([]Head{{}, {}, {Deps: []int{0, 1}}, {Deps: []int{2}}, {Deps: []int{1, 5}}, {}})
	if got := p.following([]int{0}, 100, all); len(got) != 0 {
		t.Errorf("one input is missing: %v", got)
	}
	if got := p.following([]int{0, 1}, 100, all); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("%v", got)
	}
	p.set(5, runs.Ran)
	if got := p.following([]int{1}, 100, all); !slices.Equal(got, []int{4}) {
		t.Errorf("%v", got)
	}
	if got := p.following([]int{1}, 100, func(i int) bool { return i != 4 }); len(got) != 0 {
		t.Errorf("one that is not wanted: %v", got)
	}
}

func TestTake(t *testing.T) {
	p := newProgress(make([]Head, 10)) // none has inputs
	short := func(i int) bool { return i%2 == 0 }
	if got := p.take(2, 1, short, never); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("first %v", got)
	}
	if got := p.take(10, 0, short, never); !slices.Equal(got, []int{4, 6, 8}) {
		t.Errorf("then %v", got)
	}
	p.set(5, runs.Running) // parked by then
	if got := p.take(0, 10, short, never); !slices.Equal(got, []int{3, 7, 9}) {
		t.Errorf("at last %v", got)
	}
	if got := p.take(10, 10, short, never); len(got) != 0 {
		t.Errorf("twice: %v", got)
	}
	p.set(5, runs.Waiting)
	if got := p.take(10, 10, all, never); !slices.Equal(got, []int{5}) {
		t.Errorf("one that waits again: %v", got)
	}
}

// TestEachStepOnce walks random plans as a run does, with room that comes and goes and
// steps that are held with others: each step is begun once, after its inputs.
func TestEachStepOnce(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		heads := make([]Head, 1+rnd.IntN(60))
		for i := range heads {
			for d := range i {
				if rnd.IntN(8) == 0 {
					heads[i].Deps = append(heads[i].Deps, d)
				}
			}
		}
		p := newProgress(heads)
		begun := map[int]bool{}
		var working [][]int
		begin := func(steps []int) {
			for _, i := range steps {
				if begun[i] {
					t.Fatalf("seed %d: step %d begins twice", seed, i)
				}
				begun[i] = true
				p.hold(i)
			}
			working = append(working, steps)
		}
		for len(begun) < len(heads) || len(working) > 0 {
			ready := p.take(rnd.IntN(4), rnd.IntN(3), func(i int) bool { return i%3 != 0 }, never)
			for _, i := range ready {
				for _, d := range heads[i].Deps {
					if !done(p.steps[d].Status) {
						t.Fatalf("seed %d: step %d begins before its input %d", seed, i, d)
					}
				}
			}
			if len(ready) > 0 {
				begin(slices.Concat(ready, p.following(ready, rnd.IntN(5), all)))
			}
			if len(working) > 0 && (len(ready) == 0 || rnd.IntN(2) == 0) {
				n := rnd.IntN(len(working))
				for _, i := range working[n] {
					p.held[i] = false
					p.set(i, runs.Ran)
				}
				working = slices.Delete(working, n, n+1)
			}
		}
		if n := p.counts()[runs.Ran]; n != len(heads) {
			t.Fatalf("seed %d: %d of %d steps", seed, n, len(heads))
		}
	}
}

// TestRanks: what has the longest way to the end begins first, of steps that are ready at the
// same time; a step that has never run counts as the others do.
func TestRanks(t *testing.T) {
	s := func(seconds float64) *float64 { return &seconds }
	heads := []Head{{TookS: s(5)}, {TookS: s(1)}, {TookS: s(9), Deps: []int{1}}, {TookS: s(1)}, {Deps: []int{3}}, {TookS: s(3), Deps: []int{4}}, {TookS: s(5)}}
	if got, want := newProgress(heads).ready.rank, []float64{5, 10, 9, 8, 7, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("ranks %v, want %v", got, want)
	}
	if got := newProgress(heads).take(10, 0, all, never); !slices.Equal(got, []int{1, 3, 0, 6}) {
		t.Errorf("in the order %v", got)
	}
	if got := newProgress(line(3)).ready.rank; !slices.Equal(got, []float64{3, 2, 1}) {
		t.Errorf("without history %v", got)
	}
}

func never(int) bool { return false }
