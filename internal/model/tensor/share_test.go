package tensor

import (
	"errors"
	"sync"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestShare: threads are shared while f runs at once with others, and all of them are there again afterwards.
func TestShare(t *testing.T) {
	defer SetNumThreads(NumThreads())
	SetNumThreads(5)
	var mu sync.Mutex
	var at sync.WaitGroup
	for n, each := range map[int]int{1: 5, 2: 2, 7: 1} {
		at.Add(n)
		ran := 0
		testkit.None(t, Share(n, func() error {
			at.Done()
			at.Wait() // for all of them
			return Run(func(s *Scope) {
				mu.Lock()
				defer mu.Unlock()
				if ran++; NumThreads() != each {
					t.Errorf("%d of 5 threads for one of %d, want %d", NumThreads(), n, each)
				}
			})
		}))
		testkit.Is(t, ran, n)
		testkit.Is(t, NumThreads(), 5)
	}
	full := errors.New("full")
	testkit.Is(t, Share(2, func() error { return full }), full, "the error")
}
