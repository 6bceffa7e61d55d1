package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/system/testkit"
)

// slow takes a time for each query.
type slow struct {
	cost    time.Duration
	each    time.Duration // batch
	longest int           // batch
}

func (s *slow) Search(_ context.Context, queries []string, _ int) ([]search.Answer, error) {
	s.longest = max(s.longest, len(queries))
	time.Sleep(s.each + time.Duration(len(queries))*s.cost)
	return make([]search.Answer, len(queries)), nil
}

// However many ask, who is answered is answered in time; the others are told at once,
// or when the searcher turned out slower, in time too, and when to come back.
func TestWithin(t *testing.T) {
	for _, slower := range []time.Duration{1, 3} {
		batched(t, &slow{cost: 30 * time.Millisecond}, Limits{32, 256, 2 * time.Second}, func(t *testing.T, s *slow, b *Batcher) {
			testkit.None(t, testkit.Err(b.Search(t.Context(), "warm", 1)))
			s.cost *= slower
			began := time.Now()
			var mu sync.Mutex
			var wg sync.WaitGroup
			answered, refused := 0, 0
			for i := range 200 {
				wg.Go(func() {
					for q := range 5 {
						start := time.Now()
						_, err := b.Search(t.Context(), fmt.Sprint(i, q), 1)
						took := time.Since(start)
						var busy *BusyError
						mu.Lock()
						switch {
						case err == nil:
							answered++
							if took > 2*time.Second {
								t.Errorf("an answer took %s", took)
							}
						case errors.As(err, &busy):
							refused++
							if slower == 1 && took > 0 || took > 2*time.Second || busy.After <= 0 {
								t.Errorf("sent away after %s, to come back after %s", took, busy.After)
							}
						default:
							t.Error(err)
						}
						mu.Unlock()
						if err != nil {
							time.Sleep(busy.After)
						}
					}
				})
			}
			wg.Wait()
			// Who asks first is the scheduler's choice, and with it how many are answered; that the
			// searcher is kept at work is not. One that is slower stands still while those it sent away are.
			took := time.Since(began)
			worked := float64(time.Duration(answered)*s.cost) / float64(took)
			if worked < 0.6 || slower == 1 && worked < 0.95 || refused == 0 || s.longest > 32 || slower == 1 && s.longest > 16 {
				t.Errorf("%d answered in %s, at work for %.2f of it, %d refused, batches of up to %d",
					answered, took, worked, refused, s.longest)
			}
		})
	}
}

// What few queries cost that were asked alone says little of many: those have most of a batch in common. As many come as
// there is time for in batches, and all are answered, whether batches were seen before or only a few queries together.
func TestTogether(t *testing.T) {
	for _, before := range []int{6, 32} {
		batched(t, &slow{cost: 4 * time.Millisecond, each: 12 * time.Millisecond}, Limits{32, 256, 2 * time.Second}, func(t *testing.T, _ *slow, b *Batcher) {
			together := func(n int) (refused int) {
				var callers []*caller
				for i := range n {
					callers = append(callers, call(b, fmt.Sprint(i), 1))
				}
				for _, c := range callers {
					if <-c.done; c.err != nil {
						refused++
					}
				}
				return refused
			}
			for _, n := range []int{1, before, 1, 200} { // each but the first of several is alone, the others come meanwhile
				if refused := together(n); refused > 0 {
					t.Errorf("%d seen together: of %d at once %d were refused", before, n, refused)
				}
			}
		})
	}
}

// A searcher that has become slower shows that in a large batch: the queries in the queue then are not put into a smaller one as if
// it cost what a single query once did.
func TestSlower(t *testing.T) {
	batched(t, &slow{cost: 30 * time.Millisecond}, Limits{32, 256, 2 * time.Second}, func(t *testing.T, s *slow, b *Batcher) {
		testkit.None(t, testkit.Err(b.Search(t.Context(), "warm", 1)))
		callers := []*caller{call(b, "at work", 1)}
		synctest.Wait()
		s.cost *= 3
		began := time.Now()
		for i := range 40 {
			callers = append(callers, call(b, fmt.Sprint(i), 1))
		}
		for _, c := range callers {
			if <-c.done; c.err == nil && time.Since(began) > 2*time.Second {
				t.Errorf("an answer took %s", time.Since(began))
			}
		}
	})
}

// A model that is slower than the time in which answers are due answers all the same,
// one client at a time.
func TestSlowModel(t *testing.T) {
	batched(t, &slow{cost: 5 * time.Second}, Limits{32, 256, 2 * time.Second}, func(t *testing.T, _ *slow, b *Batcher) {
		for range 2 {
			testkit.None(t, testkit.Err(b.Search(t.Context(), "q", 1)))
		}
		go b.Search(t.Context(), "first", 1)
		synctest.Wait()
		if _, err := b.Search(t.Context(), "second", 1); !errors.As(err, new(*BusyError)) {
			t.Errorf("while another is answered: %v", err)
		}
	})
}
