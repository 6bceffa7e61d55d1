package server

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redsi/redsi/internal/search"
)

// Searcher answers several queries at once with the k best documents of each, in
// order; a smaller k gives the beginning of the same answer.
type Searcher interface {
	Search(ctx context.Context, queries []string, k int) ([]search.Answer, error)
}

// Errors of Batcher.Search.
var (
	ErrBusy   = errors.New("too many queries are waiting")
	ErrClosed = errors.New("the search is shutting down")
)

// Batcher lets many callers share one Searcher. An idle Searcher is asked at once;
// the queries that come while it is busy make the next batch.
type Batcher struct {
	searcher Searcher
	most     int // queries of a batch
	room     int // queries that may wait

	mu      sync.Mutex
	waiting []*request
	closed  bool
	wake    chan struct{} // holds one token: there may be something to do
	ended   chan struct{}
}

type request struct {
	ctx   context.Context
	query string
	k     int
	reply chan reply // holds one, so that nobody waits to give it
}

type reply struct {
	answer search.Answer
	err    error
}

// NewBatcher answers at most the given number of queries at a time and lets at most
// room of them wait.
func NewBatcher(s Searcher, most, room int) *Batcher {
	b := &Batcher{searcher: s, most: most, room: room, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go func() {
		runtime.LockOSThread() // libtorch keeps a pool of threads per OS thread that calls it
		defer runtime.UnlockOSThread()
		b.work()
	}()
	return b
}

// Search waits for the answer to one query. It returns ErrBusy at once if there is
// no room to wait, and when ctx ends, whose query is then not searched, unless it
// is being searched with others.
func (b *Batcher) Search(ctx context.Context, query string, k int) (search.Answer, error) {
	r := &request{ctx: ctx, query: query, k: k, reply: make(chan reply, 1)}
	if err := b.enter(r); err != nil {
		return search.Answer{}, err
	}
	select {
	case got := <-r.reply:
		return got.answer, got.err
	case <-ctx.Done():
		b.mu.Lock()
		defer b.mu.Unlock()
		b.waiting = slices.DeleteFunc(b.waiting, func(x *request) bool { return x == r })
		return search.Answer{}, context.Cause(ctx)
	}
}

func (b *Batcher) enter(r *request) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return ErrClosed
	case len(b.waiting) >= b.room:
		return ErrBusy
	}
	b.waiting = append(b.waiting, r)
	b.signal()
	return nil
}

func (b *Batcher) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Close refuses new queries, answers those that wait with ErrClosed, and returns
// when the batch at work is done.
func (b *Batcher) Close() {
	b.mu.Lock()
	b.closed = true
	b.signal()
	b.mu.Unlock()
	<-b.ended
}

func (b *Batcher) work() {
	defer close(b.ended)
	for range b.wake {
		for {
			batch, closed := b.next()
			if closed {
				return
			}
			if len(batch) == 0 {
				break
			}
			b.answer(batch)
		}
	}
}

// next takes the queries that have waited longest.
func (b *Batcher) next() (batch []*request, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		for _, r := range b.waiting {
			r.reply <- reply{err: ErrClosed}
		}
		b.waiting = nil
		return nil, true
	}
	n := min(b.most, len(b.waiting))
	batch = slices.Clone(b.waiting[:n])
	b.waiting = slices.Delete(b.waiting, 0, n)
	return batch, false
}

// answer searches a batch; the search ends early when nobody waits for it any more.
func (b *Batcher) answer(batch []*request) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var left atomic.Int64
	left.Store(int64(len(batch)))
	queries, k := make([]string, len(batch)), 0
	for i, r := range batch {
		queries[i], k = r.query, max(k, r.k)
		stop := context.AfterFunc(r.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})
		defer stop()
	}
	answers, err := b.searcher.Search(ctx, queries, k)
	if err == nil && len(answers) != len(batch) {
		err = errors.New("the search did not answer every query")
	}
	for i, r := range batch {
		got := reply{err: err}
		if err == nil {
			got.answer = answers[i]
			got.answer.Hits = got.answer.Hits[:min(r.k, len(got.answer.Hits))]
		}
		r.reply <- got
	}
}
