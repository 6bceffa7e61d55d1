package capacity

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestPoolRandom: whatever steps ask for, and whenever they are cancelled, nothing is given twice, all others
// run, those too that have an amount and then wait for a card, and everything comes back.
func TestPoolRandom(t *testing.T) {
	for seed := range uint64(1000) {
		synctest.Test(t, func(t *testing.T) { randomSteps(t, rand.New(rand.NewPCG(seed, 0))) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomSteps(t *testing.T, r *rand.Rand) {
	all := []int{0, 1, 2, 3}[:1+r.IntN(4)]
	has := Amount{CPUs: 1 + r.IntN(4), Memory: int64(1 + r.IntN(10)), GPUs: len(all)}
	p := NewPool(has, Cards{Each: 1 + r.IntN(2)})
	var mu sync.Mutex
	var used Amount
	busy := map[int]int{}
	count := func(want Want, cards []int, sign int) {
		mu.Lock()
		defer mu.Unlock()
		used = used.plus(want.Amount, sign)
		for _, c := range cards {
			if busy[c] += sign; busy[c] > p.cards.Each {
				t.Errorf("%d steps have card %d", busy[c], c)
			}
		}
		testkit.Is(t, has.short(used), Amount{}, used, has)
	}
	// do does what it is given with what a step asks for.
	do := func(ctx context.Context, want Want, work func()) {
		waits := 0
		cards, give, err := p.Take(ctx, want, func(string) { waits++ })
		defer give()
		if err != nil {
			testkit.That(t, ctx.Err() != nil && cards == nil, err, "with cards", cards)
			return
		}
		others := slices.ContainsFunc(cards, func(c int) bool { return !slices.Contains(want.Of, c) })
		if sorted := slices.Sorted(slices.Values(cards)); waits > 1 || others || len(slices.Compact(sorted)) != want.Many {
			t.Errorf("%+v gets cards %v, told %d times", want, cards, waits)
		}
		count(want, cards, 1)
		work()
		count(want, cards, -1)
	}
	var steps sync.WaitGroup
	for range 5 + r.IntN(40) {
		want := Want{CPUs: r.IntN(has.CPUs + 1), Memory: int64(r.IntN(int(has.Memory) + 1))}
		card := Want{} // that it asks for while it runs
		switch r.IntN(4) {
		case 0:
			want.Many, want.Of = 1+r.IntN(min(3, len(all))), all
			want.GPUs = want.Many
		case 1:
			card = Want{Many: 1, Of: all}
		case 2:
			card = Want{Many: 1, Of: []int{r.IntN(len(all))}}
		}
		ctx, cancel := context.WithCancel(t.Context())
		begin, first, second := time.Duration(r.IntN(60)), time.Duration(r.IntN(10)), time.Duration(r.IntN(10))
		if r.IntN(4) == 0 {
			time.AfterFunc(begin+time.Duration(r.IntN(40)), cancel)
		}
		steps.Go(func() {
			defer cancel()
			time.Sleep(begin)
			do(ctx, want, func() {
				time.Sleep(first)
				if card.Many > 0 {
					do(ctx, card, func() { time.Sleep(second) })
				}
			})
		})
	}
	steps.Wait() // or it is a deadlock
	maps.DeleteFunc(p.busy, func(_, steps int) bool { return steps == 0 })
	if p.free != has || len(p.queue) != 0 || len(p.busy) != 0 {
		t.Errorf("left: %+v of %+v, cards %v, %d wait", p.free, has, p.busy, len(p.queue))
	}
}

// TestPoolGivenWhenCancelled: what is given in the moment in which its step is cancelled is the step's, or
// comes back.
func TestPoolGivenWhenCancelled(t *testing.T) {
	for range 50 {
		p := NewPool(Amount{CPUs: 1}, Cards{})
		first := askCards(t, p, Amount{CPUs: 1}, 1, 0)
		second := askCards(t, p, Amount{CPUs: 1}, 1, 0)
		p.mu.Lock()
		second.cancel()
		p.takeBack(&waiter{CPUs: 1, cards: first.cards})
		p.serve()
		p.mu.Unlock()
		<-second.begun
		second.give()
		if p.free != p.has || p.busy[0] != 0 {
			t.Fatalf("left: %+v, card %d", p.free, p.busy[0])
		}
	}
}
