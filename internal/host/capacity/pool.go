package capacity

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/redsi/redsi/internal/system/words"
)

// Pool divides what a worker has among its running steps. A nil Pool gives everything.
type Pool struct {
	has   Amount
	cards Cards

	mu    sync.Mutex
	free  Amount
	busy  map[int]int // steps by card
	queue []*waiter   // in the order in which they came
}

// Cards are the graphics cards of a worker, by the numbers that this process sees.
type Cards struct {
	Steps    []int // for steps that name no card
	Programs []int // for programs
	Only     bool  // nobody gets another card, even by naming it
	Each     int   // steps at a time on a card; 0: 1
}

// Want is what a step asks for.
type Want struct {
	Amount
	Many int   // number of different cards
	Of   []int // the cards to choose from
}

type waiter struct {
	Want
	lacked Amount        // the parts of which there has been too little
	cards  []int         // which it was given
	given  chan struct{} // closed when it has what it asks for
}

// NewPool returns the pool of a worker that has so much.
func NewPool(has Amount, cards Cards) *Pool {
	cards.Each = max(1, cards.Each)
	return &Pool{has: has, cards: cards, free: has, busy: map[int]int{}}
}

// Has returns what the worker has when nothing runs.
func (p *Pool) Has() Amount {
	if p == nil {
		return Amount{CPUs: math.MaxInt, Memory: Unknown, GPUs: math.MaxInt}
	}
	return p.has
}

// Cards returns the cards of the worker.
func (p *Pool) Cards() Cards {
	if p == nil {
		return Cards{}
	}
	return p.cards
}

// Take waits until a request fits beside what runs, and takes it, with the cards, until give is called, which is never
// nil. The caller refuses amounts that never fit, by Has. onWait is called once, before a wait, with what is waited for.
// The error is the context's, or says that the cards of the request are too few.
func (p *Pool) Take(ctx context.Context, want Want, onWait func(what string)) (cards []int, give func(), err error) {
	switch {
	case want.Many > len(want.Of):
		return nil, func() {}, fmt.Errorf("this worker has fewer than %d cards for programs", want.Many)
	case p == nil || want.Amount == (Amount{}) && want.Many == 0:
		return want.Of[:want.Many], func() {}, nil
	}
	w := &waiter{Want: want, given: make(chan struct{})}
	give = sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.takeBack(w)
		p.serve()
	})
	p.mu.Lock()
	p.queue = append(p.queue, w)
	p.serve()
	waiting, what := slices.Contains(p.queue, w), p.lacks(want)
	p.mu.Unlock()
	if !waiting {
		return w.cards, give, nil
	}
	onWait(what)
	select {
	case <-w.given:
		return w.cards, give, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.queue)
	if p.queue = slices.DeleteFunc(p.queue, func(o *waiter) bool { return o == w }); len(p.queue) == n {
		p.takeBack(w) // it was given at the same moment
	}
	p.serve()
	return nil, func() {}, ctx.Err()
}

// lacks says what a request waits for.
func (p *Pool) lacks(want Want) string {
	what := p.free.Lacks(want.Amount, "beside the steps that run this worker")
	if what == "" && len(p.freeCards(want, nil)) < want.Many {
		what = words.Count(want.Many, "card") + ", and steps that came before it have them"
	}
	return cmp.Or(what, "its turn: steps that came before it wait for the same")
}

func (p *Pool) takeBack(w *waiter) {
	p.free = p.free.plus(w.Amount, 1)
	for _, c := range w.cards {
		p.busy[c]--
	}
}

// freeCards returns as many cards as a request asks for, or fewer if there are not so many, on which there is room
// beside what is kept for others: cards with the fewest steps first.
func (p *Pool) freeCards(want Want, kept map[int]int) []int {
	used := func(card int) int { return p.busy[card] + kept[card] }
	free := slices.DeleteFunc(slices.Clone(want.Of), func(card int) bool { return used(card) >= p.cards.Each })
	slices.SortStableFunc(free, func(a, b int) int { return used(a) - used(b) })
	return free[:min(want.Many, len(free))]
}

// serve lets waiting steps that fit begin, in their order. What a waiting step has ever had too little of is kept for
// it: steps that came later may begin, but get none of that. Free cards are kept for a step that waits only for cards:
// while it waits for an amount, too, a step that has this amount may be waiting for the cards. serve is called locked.
func (p *Pool) serve() {
	left, kept := p.free, map[int]int{}
	p.queue = slices.DeleteFunc(p.queue, func(w *waiter) bool {
		short, cards := left.short(w.Amount), p.freeCards(w.Want, kept)
		if short == (Amount{}) && len(cards) == w.Many {
			left, p.free = left.plus(w.Amount, -1), p.free.plus(w.Amount, -1)
			for _, c := range cards {
				p.busy[c]++
			}
			w.cards = cards
			close(w.given)
			return true
		}
		if short == (Amount{}) {
			for _, c := range cards {
				kept[c]++
			}
		}
		w.lacked = Amount{max(w.lacked.CPUs, short.CPUs), max(w.lacked.Memory, short.Memory), max(w.lacked.GPUs, short.GPUs)}
		left = left.plus(w.lacked, -1)
		return false
	})
}
