package capacity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// mostPassed is how many steps may begin before one that came earlier and does not fit yet,
// each of them taking of what it lacks. From then on what it asks for is set aside: it waits
// for those that run, and no longer.
const mostPassed = 8

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
	passed int           // steps that began before it and took of what it lacks
	given  chan struct{} // closed when it has what it asks for
}

// NewPool makes the pool of a worker that has so much.
func NewPool(has Amount) *Pool { return &Pool{has: has, free: has} }

// Has is what the worker has when nothing runs.
func (p *Pool) Has() Amount {
	if p == nil {
		return Amount{}
	}
	return p.has
}

// Take waits until a request fits beside what runs, and takes it until give is called, which
// is never nil. One that never fits is the caller's to refuse, by Has. waits is told once,
// before it waits, what it waits for. The error is the context's.
func (p *Pool) Take(ctx context.Context, want Amount, waits func(what string)) (give func(), err error) {
	if p == nil || want == (Amount{}) {
		return func() {}, nil
	}
	w := &waiter{want: want, given: make(chan struct{})}
	give = sync.OnceFunc(func() { p.give(want) })
	p.mu.Lock()
	p.queue = append(p.queue, w)
	p.serve()
	what := p.missing(w)
	p.mu.Unlock()
	if what == "" {
		return give, nil
	}
	waits(what)
	select {
	case <-w.given:
		return give, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-w.given: // in the same moment
		p.free = p.free.plus(want, 1)
	default:
		p.queue = slices.DeleteFunc(p.queue, func(o *waiter) bool { return o == w })
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

// missing says what a waiting step waits for; "" if it waits no more. It is called locked.
func (p *Pool) missing(w *waiter) string {
	if !slices.Contains(p.queue, w) {
		return ""
	}
	short, any := p.free.short(w.want)
	if !any {
		return "its turn: steps that came before it wait for the same"
	}
	free, has := p.free.list(), p.has.list()
	text := ""
	for kind := range short {
		if short[kind] {
			if text != "" {
				text += ", and "
			}
			text += fmt.Sprintf("%s: running steps have %d%% of %s", says(kind, w.want.list()[kind]), 100*(has[kind]-free[kind])/max(1, has[kind]), strings.TrimSuffix(says(kind, has[kind]), ofMemory))
		}
	}
	return text
}

// serve gives out what is free. It is called locked.
func (p *Pool) serve() {
	for p.serveOne() {
	}
}

// serveOne lets the first step begin that fits into what is free, without what is set aside
// for those before it that have been passed often enough.
func (p *Pool) serveOne() bool {
	free := p.free
	for n, w := range p.queue {
		if _, lacks := free.short(w.want); lacks {
			if w.passed >= mostPassed {
				free = free.plus(w.want, -1)
			}
			continue
		}
		for _, e := range p.queue[:n] {
			if p.passes(w, e) {
				e.passed++
			}
		}
		p.queue = slices.Delete(p.queue, n, n+1)
		p.free = p.free.plus(w.want, -1)
		close(w.given)
		return true
	}
	return false
}

// passes reports whether a step takes of what one that came before it lacks.
func (p *Pool) passes(w, e *waiter) bool {
	short, _ := p.free.short(e.want)
	for kind, n := range w.want.list() {
		if short[kind] && n > 0 {
			return true
		}
	}
	return false
}
