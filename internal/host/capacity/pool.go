package capacity

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
)

// Pool gives what a worker has to the running steps in it. A nil Pool gives everything.
type Pool struct {
	has Amount

	mu    sync.Mutex
	free  Amount
	queue []*waiter // in the order in which they came
}

// waiter is a step that waits until it fits.
type waiter struct {
	want   Amount
	lacked Amount        // of that, what there has been too little of
	given  chan struct{} // closed when it has what it asks for
}

// NewPool makes the pool of a worker that has so much.
func NewPool(has Amount) *Pool { return &Pool{has: has, free: has} }

// Has is what the worker has when nothing runs.
func (p *Pool) Has() Amount {
	if p == nil {
		return Amount{CPUs: math.MaxInt, Memory: Unknown, GPUs: math.MaxInt}
	}
	return p.has
}

// Take waits until a request fits beside what runs, and takes it until give is called, which
// is never nil. One that never fits is the caller's to refuse, by Has. onWait is told once,
// before it waits, what it waits for. The error is the context's.
func (p *Pool) Take(ctx context.Context, want Amount, onWait func(what string)) (give func(), err error) {
	if p == nil || want == (Amount{}) {
		return func() {}, nil
	}
	w := &waiter{want: want, given: make(chan struct{})}
	give = sync.OnceFunc(func() { p.give(want) })
	p.mu.Lock()
	p.queue = append(p.queue, w)
	p.serve()
	waiting, what := slices.Contains(p.queue, w), p.free.Lacks(want, "beside the steps that run this worker")
	p.mu.Unlock()
	if !waiting {
		return give, nil
	}
	onWait(cmp.Or(what, "its turn: steps that came before it wait for the same"))
	select {
	case <-w.given:
		return give, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.queue)
	if p.queue = slices.DeleteFunc(p.queue, func(o *waiter) bool { return o == w }); len(p.queue) == n {
		p.free = p.free.plus(want, 1) // it was given in the same moment
	}
	p.serve()
	return func() {}, ctx.Err()
}

func (p *Pool) give(a Amount) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = p.free.plus(a, 1)
	p.serve()
}

// serve lets those begin that fit, the first first. What one that waits has ever had too little
// of is set aside for it: a step that came later may begin, but gets none of that. It is
// called locked.
func (p *Pool) serve() {
	left := p.free
	p.queue = slices.DeleteFunc(p.queue, func(w *waiter) bool {
		short := left.short(w.want)
		if short == (Amount{}) {
			left, p.free = left.plus(w.want, -1), p.free.plus(w.want, -1)
			close(w.given)
			return true
		}
		w.lacked = Amount{max(w.lacked.CPUs, short.CPUs), max(w.lacked.Memory, short.Memory), max(w.lacked.GPUs, short.GPUs)}
		left = left.plus(w.lacked, -1)
		return false
	})
}
