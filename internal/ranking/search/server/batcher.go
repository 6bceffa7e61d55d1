package server

import (
	"cmp"
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redsi/redsi/internal/ranking/search"
)

// Searcher answers several queries at once with the k best documents of each, in
// order; a smaller k gives the beginning of the same answer.
type Searcher interface {
	Search(ctx context.Context, queries []string, k int) ([]search.Answer, error)
}

// ErrClosed is the error of Batcher.Search after Close.
var ErrClosed = errors.New("the search is shutting down")

// BusyError is the error of Batcher.Search where a query would wait too long.
type BusyError struct {
	After time.Duration // when the queries in the queue will have been answered
}

func (e *BusyError) Error() string { return "too many queries are waiting" }

// Limits bound what a Batcher takes upon itself.
type Limits struct {
	Batch  int           // queries that are searched together at most
	Queue  int           // queries that may wait
	Within time.Duration // an answer is due; who would wait longer is sent away
}

// Batcher lets many callers share one Searcher. An idle Searcher is asked at once; the queries that come while it is
// busy make the next batch. It measures what a query costs in batches of about each size: batches are kept short beside
// Limits.Within, and a query for which there is no time is refused when it comes, not when its time is over.
type Batcher struct {
	searcher Searcher
	limits   Limits

	mu      sync.Mutex
	waiting []*request
	closed  bool
	busy    int           // queries of the running batch
	since   time.Time     // its beginning
	wake    chan struct{} // holds one token: there may be something to do
	ended   chan struct{}

	// cost is what a query cost in the last batches of as many queries, by the length in bits of that number; 0: there was none.
	cost [bits.UintSize + 1]time.Duration
}

type request struct {
	ctx   context.Context
	query string
	k     int
	came  time.Time
	reply chan reply // holds one, so that giving it does not block
}

type reply struct {
	answer search.Answer
	err    error
}

// NewBatcher shares a Searcher; Close ends what it starts.
func NewBatcher(s Searcher, l Limits) *Batcher {
	b := &Batcher{searcher: s, limits: l, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go b.work()
	return b
}

// Search blocks until a query is answered or ctx ends: a query whose ctx ends is not searched, unless it is being
// searched with others. It returns a BusyError at once if there is no room or no time for the query.
func (b *Batcher) Search(ctx context.Context, query string, k int) (search.Answer, error) {
	r := &request{ctx: ctx, query: query, k: k, came: time.Now(), reply: make(chan reply, 1)}
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
	case len(b.waiting) >= b.limits.Queue, b.busy+len(b.waiting) > 0 && b.due() > b.limits.Within*3/4: // the rest is for being wrong
		return &BusyError{b.due()}
	}
	b.waiting = append(b.waiting, r)
	b.signal()
	return nil
}

// due is how long a query that comes now would take.
func (b *Batcher) due() time.Duration {
	atWork := time.Duration(b.busy)*b.each(b.busy) - time.Since(b.since)
	n := len(b.waiting) + 1
	return max(atWork, 0) + time.Duration(n)*b.each(min(n, b.most()))
}

// each is what a query costs where n are searched together. Without a measurement of batches of about as many it is the
// cost in the next smaller batches measured, or in larger ones; 0 before the first.
func (b *Batcher) each(n int) time.Duration {
	size := bits.Len(uint(n))
	for s := size; s > 0; s-- {
		if b.cost[s] > 0 {
			return b.cost[s]
		}
	}
	return cmp.Or(b.cost[size:]...)
}

// most is how many queries a batch has at most, so that it takes no more than its share of the time.
func (b *Batcher) most() int {
	for size := bits.Len(uint(b.limits.Batch)); size > 1; size-- {
		least := 1 << (size - 1)
		n := min(b.limits.Batch, 2*least-1)
		if cost := b.each(n); cost > 0 {
			n = min(n, int(b.limits.Within/share/cost))
		}
		if n >= least {
			return n
		}
	}
	return 1
}

func (b *Batcher) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Close refuses new queries, answers the queue with ErrClosed, and returns when the running batch is done.
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

// share of Limits.Within that a batch may take: new queries are queued meanwhile.
const share = 4

// next takes the queries that have waited longest; queries that have waited so long that their answers would be late
// are sent away.
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
	n, taken := min(b.most(), len(b.waiting)), 0
	each := b.each(n)
	for ; taken < len(b.waiting) && len(batch) < n; taken++ {
		r := b.waiting[taken]
		if waited := time.Since(r.came); waited > 0 && waited+time.Duration(len(batch)+1)*each > b.limits.Within {
			r.reply <- reply{err: &BusyError{b.due()}}
			continue
		}
		batch = append(batch, r)
	}
	b.waiting = slices.Delete(b.waiting, 0, taken)
	b.busy, b.since = len(batch), time.Now()
	return batch, false
}

// memory is how many queries the cost remembers, about, while it falls.
const memory = 64

// done notes what a batch cost that was searched to its end.
func (b *Batcher) done(n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy = 0; err != nil {
		return
	}
	size := bits.Len(uint(n))
	cost := time.Since(b.since) / time.Duration(n)
	if before := b.cost[size]; cost < before { // a rise is believed at once, so that few answers are late
		weight := min(float64(n)/memory, 0.5)
		cost = time.Duration((1-weight)*float64(before) + weight*float64(cost))
	}
	b.cost[size] = max(cost, 1)
	for s, measured := range b.cost {
		switch { // in larger batches a query costs no more
		case s < size && measured > 0: // the searcher is slower than it was when it last had so few
			b.cost[s] = max(measured, b.cost[size])
		case s > size: // what took long once is retried
			b.cost[s] = min(measured, b.cost[size])
		}
	}
}

// answer searches a batch; the search ends early once every caller has left. Nothing is running any more when the first
// caller has its answer.
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
	b.done(len(batch), err)
	for i, r := range batch {
		got := reply{err: err}
		if err == nil {
			got.answer = answers[i]
			got.answer.Hits = got.answer.Hits[:min(r.k, len(got.answer.Hits))]
		}
		r.reply <- got
	}
}
