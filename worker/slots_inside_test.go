package worker

import (
	"context"
	"runtime"
	"testing"
)

// TestSlots: one more activity is taken for each that waits, up to as many as work.
func TestSlots(t *testing.T) {
	s := newSlots(2)
	taken := 0
	take := func() int {
		for s.TryReserveSlot(nil) != nil {
			taken++
		}
		return taken
	}
	if n := take(); n != 2 {
		t.Fatalf("%d at a time", n)
	}
	got := make(chan error)
	go func() {
		_, err := s.ReserveSlot(t.Context(), nil)
		got <- err
	}()
	over := s.addWaiting()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	taken++
	s.addWaiting()
	s.addWaiting()
	if n := take(); n != 4 {
		t.Errorf("%d while three wait", n)
	}
	over()
	s.ReleaseSlot(nil)
	if n := take(); n != 5 { // four of them are left
		t.Errorf("%d after one has ended", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.ReserveSlot(ctx, nil); err == nil {
		t.Error("it took one more")
	}
}

// A worker of one processor has one for steps, unless it is told otherwise.
func TestOneProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for want, o := range map[int]Options{1: {}, 4: {CPU: 4}, 3: {CPU: 4, Cores: 3}} {
		if got := o.Has().CPUs; got != want {
			t.Errorf("%+v: %d processors, want %d", o, got, want)
		}
	}
}
