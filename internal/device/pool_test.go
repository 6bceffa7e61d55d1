package device

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/step"
)

// ask takes a card for a step of its own in the background.
func ask(ctx context.Context, p *Pool, name string, have int) (*Turn, chan int) {
	t, got := p.Turn(nil), make(chan int, 1)
	go func() {
		n, ok, err := Choose(With(ctx, t), name, have, func() string { return "none" })
		if !ok {
			n = -1
		}
		if err != nil {
			n = -2
		}
		got <- n
	}()
	return t, got
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
	first, a := ask(t.Context(), p, "auto", 3)
	if n := <-a; n != 0 {
		t.Fatal(n)
	}
	second, b := ask(t.Context(), p, "cuda", 3)
	if n := <-b; n != 2 {
		t.Fatal(n)
	}
	_, named := ask(t.Context(), p, "cuda:2", 3)
	queued(t, p, 1)
	third, c := ask(t.Context(), p, "auto", 3)
	queued(t, p, 2)
	first.End()
	if n := <-c; n != 0 {
		t.Errorf("card %d", n)
	}
	if third.Waited() <= 0 || second.Waited() < 0 {
		t.Error(third.Waited(), second.Waited())
	}
	second.End()
	second.End() // gives back once
	if n := <-named; n != 2 {
		t.Errorf("card %d", n)
	}
	if p.busy[0] != 1 || p.busy[2] != 1 {
		t.Errorf("%v", p.busy)
	}
}

// TestPoolGivesUp: a step that is cancelled while it waits takes no card with it.
func TestPoolGivesUp(t *testing.T) {
	p := NewPool(PoolOptions{})
	first, a := ask(t.Context(), p, "auto", 1)
	<-a
	ctx, cancel := context.WithCancel(t.Context())
	_, b := ask(ctx, p, "auto", 1)
	queued(t, p, 1)
	cancel()
	if n := <-b; n != -2 {
		t.Errorf("card %d", n)
	}
	first.End()
	_, c := ask(t.Context(), p, "auto", 1)
	if n := <-c; n != 0 {
		t.Errorf("card %d", n)
	}
}

// TestShared: with more slots than cards steps share them, the least used one first.
func TestShared(t *testing.T) {
	p := NewPool(PoolOptions{Cards: []int{4, 5}, Each: 2})
	var got []int
	for range 4 {
		_, c := ask(t.Context(), p, "auto", 8)
		got = append(got, <-c)
	}
	if p.busy[4] != 2 || p.busy[5] != 2 || got[0] == got[1] {
		t.Errorf("%v, busy %v", got, p.busy)
	}
}

// TestNamed: a step has one card however often it asks; one that a worker does not have is
// an error that says which it has, unless it was told none.
func TestNamed(t *testing.T) {
	p := NewPool(PoolOptions{Cards: []int{0, 1}, Only: true})
	_, _, err := Choose(With(t.Context(), p.Turn(nil)), "cuda:3", 4, nil)
	if err == nil || !step.IsPermanent(err) || !strings.Contains(err.Error(), "computes on cuda:0, cuda:1 alone (--gpus), and the step asks for cuda:3") {
		t.Error(err)
	}
	var told []int
	free := NewPool(PoolOptions{}).Turn(func(card int) { told = append(told, card) })
	ctx := With(t.Context(), free)
	for range 2 {
		if n, ok, err := Choose(ctx, "cuda:3", 4, nil); n != 3 || !ok || err != nil {
			t.Error(n, ok, err)
		}
	}
	if n, ok, err := Choose(ctx, "auto", 4, nil); n != 3 || !ok || err != nil {
		t.Error(n, ok, err)
	}
	if _, _, err := Choose(ctx, "cuda:1", 4, nil); err == nil || !strings.Contains(err.Error(), "a step on cuda:3 asks for cuda:1, too") {
		t.Error(err)
	}
	if len(told) != 1 || told[0] != 3 {
		t.Error(told)
	}
	if n, ok, err := Choose(t.Context(), "cuda", 4, nil); n != 0 || !ok || err != nil { // outside a worker
		t.Error(n, ok, err)
	}
}

// TestAlone: that there is no card is told once, with the reason, and to those alone that
// may have one.
func TestAlone(t *testing.T) {
	var told []string
	p := NewPool(PoolOptions{Alone: func(why string) { told = append(told, why) }})
	for _, name := range []string{"cpu", "auto", "auto"} {
		if _, ok, err := Choose(With(t.Context(), p.Turn(nil)), name, 0, func() string { return "no driver" }); ok || err != nil {
			t.Error(name, ok, err)
		}
	}
	if len(told) != 1 || told[0] != "no driver" {
		t.Error(told)
	}
	if _, ok, err := Choose(t.Context(), "auto", 0, func() string { return "" }); ok || err != nil {
		t.Error(ok, err)
	}
}

// TestEnded: a step whose context has ended is no step that asked for something wrong.
func TestEnded(t *testing.T) {
	p := NewPool(PoolOptions{})
	_, a := ask(t.Context(), p, "auto", 1)
	<-a
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := Choose(With(ctx, p.Turn(nil)), "auto", 1, nil)
	if !errors.Is(err, context.Canceled) || step.IsPermanent(err) {
		t.Error(err)
	}
}
