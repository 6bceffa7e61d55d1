package tensor

import (
	"errors"
	"sync"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
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
		errtest.None(t, Share(n, func() error {
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
		if ran != n || NumThreads() != 5 {
			t.Errorf("f ran %d times of %d, and %d threads of 5 are left", ran, n, NumThreads())
		}
	}
	full := errors.New("full")
	if err := Share(2, func() error { return full }); err != full {
		t.Errorf("the error is %v", err)
	}
}
