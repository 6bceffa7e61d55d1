package device

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Pool gives the cards of a worker to the running steps in it. A nil Pool gives each step
// what it names, and the first card to those that name none.
type Pool struct {
	cards       []int // for steps that name none, by the numbers that this process sees
	forPrograms []int // for programs that are given cards
	only        bool  // nor does a step get another that it names
	each        int   // steps at a time on a card
	noCard      func(why string)

	mu    sync.Mutex
	busy  map[int]int
	queue []*waiter // in the order in which they came
	said  bool
}

// waiter is a step that waits for a card.
type waiter struct {
	from  []int // any of these; nil: the one that it names
	card  int
	given chan int // takes one without blocking
}

// PoolOptions say which cards there are to give.
type PoolOptions struct {
	Cards  []int            // none: the first
	All    int              // cards of the machine that programs are given, where Cards has none
	Only   bool             // no step gets another one, though it names it
	Each   int              // steps at a time on a card; 0: 1
	NoCard func(why string) // told once, when a step that may have one finds that there is none
}

// NewPool makes the pool of a worker.
func NewPool(o PoolOptions) *Pool {
	forPrograms := slices.Clone(o.Cards)
	if len(o.Cards) == 0 {
		o.Cards = []int{0}
		for card := range o.All {
			forPrograms = append(forPrograms, card)
		}
	}
	return &Pool{cards: slices.Clone(o.Cards), forPrograms: forPrograms, only: o.Only, each: max(1, o.Each), noCard: o.NoCard, busy: map[int]int{}}
}

// tellNoCard says, once, that there is no card.
func (p *Pool) tellNoCard(why string) {
	if p == nil || p.noCard == nil {
		return
	}
	p.mu.Lock()
	said := p.said
	p.said = true
	p.mu.Unlock()
	if !said {
		p.noCard(why)
	}
}

// Several waits for so many cards for a program, which are to be given back by give, that is
// never nil. A caller sees to it that no two wait for each other's.
func (p *Pool) Several(ctx context.Context, n int) (cards []int, give func(), err error) {
	if p == nil || len(p.forPrograms) < n {
		return nil, func() {}, fmt.Errorf("this worker has fewer than %d cards for programs", n)
	}
	give = func() {
		for _, c := range cards {
			p.give(c)
		}
	}
	for range n {
		rest := slices.DeleteFunc(slices.Clone(p.forPrograms), func(c int) bool { return slices.Contains(cards, c) })
		card, err := p.take(ctx, 0, rest)
		if err != nil {
			give()
			return nil, func() {}, err
		}
		cards = append(cards, card)
	}
	return cards, give, nil
}

// take waits for a card: one of some, or that of a number. It is to be given back.
func (p *Pool) take(ctx context.Context, named int, from []int) (card int, err error) {
	if from == nil && p.only && !slices.Contains(p.cards, named) {
		return 0, fmt.Errorf("this worker computes on %s alone (--gpus), and the step asks for %s", names(p.cards), cudaName(named))
	}
	w := &waiter{from: from, card: named, given: make(chan int, 1)}
	p.mu.Lock()
	p.queue = append(p.queue, w)
	p.serve()
	p.mu.Unlock()
	select {
	case card = <-w.given:
		return card, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case card = <-w.given: // in the same moment
		p.busy[card]--
	default:
		p.queue = slices.DeleteFunc(p.queue, func(o *waiter) bool { return o == w })
	}
	p.serve()
	return 0, ctx.Err()
}

// give takes a card back.
func (p *Pool) give(card int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy[card]--
	p.serve()
}

// serve gives out what is free, to who came first; it is called locked. Who waits for a
// certain card keeps nobody from another one.
func (p *Pool) serve() {
	p.queue = slices.DeleteFunc(p.queue, func(w *waiter) bool {
		card, ok := w.card, true
		if w.from != nil {
			card = slices.MinFunc(w.from, func(a, b int) int { return p.busy[a] - p.busy[b] })
		}
		if ok = p.busy[card] < p.each; ok {
			p.busy[card]++
			w.given <- card
		}
		return ok
	})
}

// names are cards as configurations name them.
func names(cards []int) string {
	list := make([]string, len(cards))
	for i, c := range cards {
		list[i] = cudaName(c)
	}
	return strings.Join(list, ", ")
}

func cudaName(card int) string { return "cuda:" + strconv.Itoa(card) }
