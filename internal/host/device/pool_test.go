package device

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/step"
)

// turn is what a step got that asked for a card.
type turn struct {
	card   int
	waited time.Duration
	give   func()
	err    error
}

// ask takes a card for a step of its own in the background.
func ask(ctx context.Context, p *Pool, name string, have int) chan turn {
	got := make(chan turn, 1)
	go func() {
		var t turn
		t.card, t.waited, t.give, t.err = p.Choose(ctx, name, have, "none")
		got <- t
	}()
	return got
}

// queued waits until so many steps wait for a card.
func queued(t *testing.T, p *Pool, n int) {
	t.Helper()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		p.mu.Lock()
		have := len(p.queue)
		p.mu.Unlock()
		if have == n {
			return
		}
	}
	t.Fatalf("there are not %d steps waiting", n)
}

// TestPool: each step has a card of its own; who finds none free waits its turn, and who
// waits for a certain one keeps nobody from the others.
func TestPool(t *testing.T) {
	p := NewPool(PoolOptions{Cards: []int{0, 2}, Only: true})
	first, second := <-ask(t.Context(), p, "auto", 3), <-ask(t.Context(), p, "cuda", 3)
	if first.card != 0 || second.card != 2 {
		t.Fatal(first, second)
	}
	named := ask(t.Context(), p, "cuda:2", 3)
	queued(t, p, 1)
	third := ask(t.Context(), p, "auto", 3)
	queued(t, p, 2)
	first.give()
	if got := <-third; got.card != 0 || got.waited <= 0 || got.err != nil {
		t.Error(got)
	}
	second.give()
	if got := <-named; got.card != 2 || got.err != nil {
		t.Error(got)
	}
	if p.busy[0] != 1 || p.busy[2] != 1 {
		t.Errorf("%v", p.busy)
	}
}

// TestPoolGivesUp: a step that is cancelled while it waits, or before, takes no card with it
// and is none that asked for something wrong.
func TestPoolGivesUp(t *testing.T) {
	p := NewPool(PoolOptions{})
	first := <-ask(t.Context(), p, "auto", 1)
	ctx, cancel := context.WithCancel(t.Context())
	waits := ask(ctx, p, "auto", 1)
	queued(t, p, 1)
	cancel()
	for _, c := range []chan turn{waits, ask(ctx, p, "auto", 1)} {
		got := <-c
		if got.card != Processors || !errors.Is(got.err, context.Canceled) || step.IsPermanent(got.err) {
			t.Error(got)
		}
		got.give() // nothing
	}
	first.give()
	if got := <-ask(t.Context(), p, "auto", 1); got.card != 0 || got.err != nil {
		t.Error(got)
	}
}

// TestShared: with more slots than cards steps share them, the least used one first.
func TestShared(t *testing.T) {
	p := NewPool(PoolOptions{Cards: []int{4, 5}, Each: 2})
	var got []int
	for range 4 {
		got = append(got, (<-ask(t.Context(), p, "auto", 8)).card)
	}
	if p.busy[4] != 2 || p.busy[5] != 2 || got[0] == got[1] {
		t.Errorf("%v, busy %v", got, p.busy)
	}
}

// TestNamed: a step gets the card that it names; one that a worker does not have is an error
// that says which it has, unless it was told none.
func TestNamed(t *testing.T) {
	_, _, _, err := NewPool(PoolOptions{Cards: []int{0, 1}, Only: true}).Choose(t.Context(), "cuda:3", 4, "")
	if err == nil || !step.IsPermanent(err) || !strings.Contains(err.Error(), "computes on cuda:0, cuda:1 alone (--gpus), and the step asks for cuda:3") {
		t.Error(err)
	}
	var none *Pool // outside a worker
	for _, p := range []*Pool{NewPool(PoolOptions{}), none} {
		for name, want := range map[string]int{"cuda:3": 3, "cuda": 0, "cpu": Processors, "": Processors} {
			card, _, give, err := p.Choose(t.Context(), name, 4, "")
			if card != want || err != nil {
				t.Errorf("%q: card %d, %v", name, card, err)
			}
			give()
		}
	}
}

// TestNoCard: that there is no card is told once, with the reason, and to those alone that
// may have one.
func TestNoCard(t *testing.T) {
	var told []string
	p := NewPool(PoolOptions{NoCard: func(why string) { told = append(told, why) }})
	for _, p := range []*Pool{nil, p, p} {
		for _, name := range []string{"cpu", "auto"} {
			if card, _, _, err := p.Choose(t.Context(), name, 0, "no driver"); card != Processors || err != nil {
				t.Error(name, card, err)
			}
		}
	}
	if len(told) != 1 || told[0] != "no driver" {
		t.Error(told)
	}
}

// TestSeveral: a program gets as many cards as it asks for, each another one, of those that
// were named or of the whole machine; it gives all of them back, also when it is cancelled.
func TestSeveral(t *testing.T) {
	p := NewPool(PoolOptions{All: 3})
	one := <-ask(t.Context(), p, "auto", 3) // the first, and no other
	cards, give, err := p.Several(t.Context(), 2)
	if err != nil || one.card != 0 || !slices.Equal(cards, []int{1, 2}) {
		t.Fatal(one, cards, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, _, err := p.Several(ctx, 3)
		ended <- err
	}()
	queued(t, p, 1)
	one.give()
	queued(t, p, 1) // it has the first now, and waits for another
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	give()
	if cards, give, err := p.Several(t.Context(), 3); err != nil || len(cards) != 3 {
		t.Error(cards, err)
	} else {
		give()
	}
	if _, _, err := p.Several(t.Context(), 4); err == nil {
		t.Error("it has four")
	}
	if _, _, err := NewPool(PoolOptions{Cards: []int{2}, Only: true, All: 3}).Several(t.Context(), 2); err == nil {
		t.Error("it has two, of one that was named")
	}
}

// TestVisible: a card has the name that it has for this process, if that sees some only.
func TestVisible(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	if got := Visible([]int{0, 2}); got != "0,2" || Count() != 0 {
		t.Error(got, Count())
	}
	t.Setenv("CUDA_VISIBLE_DEVICES", "3,GPU-5")
	if got := Visible([]int{0, 1}); got != "3,GPU-5" {
		t.Error(got)
	}
}
