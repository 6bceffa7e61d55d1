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

// fake answers each query with documents named after it, records the batches, and
// waits for a turn if it has turns.
type fake struct {
	turns chan struct{}
	err   error

	mu        sync.Mutex
	batches   [][]string
	cancelled int
}

func (f *fake) Search(ctx context.Context, queries []string, k int) ([]search.Answer, error) {
	f.mu.Lock()
	f.batches = append(f.batches, queries)
	f.mu.Unlock()
	if f.turns != nil {
		select {
		case <-f.turns:
		case <-ctx.Done():
			f.mu.Lock()
			f.cancelled++
			f.mu.Unlock()
			return nil, ctx.Err()
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	out := make([]search.Answer, len(queries))
	for i, q := range queries {
		for rank := 1; rank <= k; rank++ {
			out[i].Hits = append(out[i].Hits, search.Hit{Rank: rank, Score: -float64(rank), Probability: 1 / float64(rank),
				Title: fmt.Sprintf("%s <%d>", q, rank), Identifier: "<doc_1>", Document: "1", Text: "first & last"})
		}
	}
	return out, nil
}

// batched calls f with a batcher of a searcher, in time of its own.
func batched[S Searcher](t *testing.T, s S, l Limits, f func(t *testing.T, s S, b *Batcher)) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBatcher(s, l)
		defer b.Close()
		f(t, s, b)
	})
}

// caller asks in the background.
type caller struct {
	cancel context.CancelFunc
	done   chan struct{}
	answer search.Answer
	err    error
}

func call(b *Batcher, query string, k int) *caller {
	ctx, cancel := context.WithCancel(context.Background())
	c := &caller{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.answer, c.err = b.Search(ctx, query, k)
	}()
	synctest.Wait() // it has been taken, or waits
	return c
}

func (c *caller) wants(t *testing.T, title string, hits int) {
	t.Helper()
	<-c.done
	if c.err != nil || len(c.answer.Hits) != hits || c.answer.Hits[0].Title != title+" <1>" {
		t.Errorf("%s: %v, %v", title, c.answer.Hits, c.err)
	}
}

// An idle searcher is asked at once; what comes meanwhile goes together, in order,
// and each caller has as many documents as it asked for.
func TestBatches(t *testing.T) {
	batched(t, &fake{}, Limits{3, 10, time.Hour}, func(t *testing.T, f *fake, b *Batcher) {
		f.turns = make(chan struct{})
		a := call(b, "a", 1)
		var others []*caller
		for i, q := range []string{"b", "c", "d", "e"} {
			others = append(others, call(b, q, i+1))
		}
		f.turns <- struct{}{}
		a.wants(t, "a", 1)
		f.turns <- struct{}{}
		f.turns <- struct{}{}
		for i, c := range others {
			c.wants(t, string(rune('b'+i)), i+1)
		}
		testkit.Is(t, fmt.Sprint(f.batches), "[[a] [b c d] [e]]", "batches")
	})
}

// Who finds no room is told at once; who leaves makes room.
func TestRoom(t *testing.T) {
	batched(t, &fake{}, Limits{8, 2, time.Hour}, func(t *testing.T, f *fake, b *Batcher) {
		f.turns = make(chan struct{})
		a, b1, c := call(b, "a", 1), call(b, "b", 1), call(b, "c", 1)
		if d := call(b, "d", 1); !errors.As(d.err, new(*BusyError)) {
			t.Errorf("a third query in a queue of two: %v", d.err)
		}
		b1.cancel()
		<-b1.done
		if !errors.Is(b1.err, context.Canceled) {
			t.Errorf("who left: %v", b1.err)
		}
		e := call(b, "e", 1)
		f.turns <- struct{}{}
		f.turns <- struct{}{}
		a.wants(t, "a", 1)
		c.wants(t, "c", 1)
		e.wants(t, "e", 1)
		testkit.Is(t, fmt.Sprint(f.batches), "[[a] [c e]]", "batches")
	})
}

// A search goes on while one caller waits for it and ends when the last has left.
func TestCancel(t *testing.T) {
	batched(t, &fake{}, Limits{8, 8, time.Hour}, func(t *testing.T, f *fake, b *Batcher) {
		f.turns = make(chan struct{})
		a, c, d := call(b, "a", 1), call(b, "c", 1), call(b, "d", 1)
		a.cancel()
		<-a.done // and with it the batch of a alone
		synctest.Wait()
		c.cancel()
		<-c.done
		synctest.Wait()
		testkit.Is(t, f.cancelled, 1)
		f.turns <- struct{}{}
		d.wants(t, "d", 1)
	})
}

// Errors reach every caller; after Close nobody is served, and nobody is forgotten.
func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{turns: make(chan struct{}), err: errors.New("no memory")}
		b := NewBatcher(f, Limits{8, 8, time.Hour})
		a, c := call(b, "a", 1), call(b, "c", 1)
		closed := make(chan struct{})
		go func() { b.Close(); close(closed) }()
		synctest.Wait()
		f.turns <- struct{}{}
		<-a.done
		<-c.done
		<-closed
		testkit.That(t, errors.Is(a.err, f.err) && errors.Is(c.err, ErrClosed), "errors", a.err, "and", c.err)
		if d := call(b, "d", 1); !errors.Is(d.err, ErrClosed) {
			t.Errorf("after Close: %v", d.err)
		}
	})
}
