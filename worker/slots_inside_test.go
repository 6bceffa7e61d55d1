package worker

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
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
	testkit.None(t, <-got)
	taken++
	s.addWaiting()
	s.addWaiting()
	testkit.Is(t, take(), 4, "while three wait")
	over()
	s.ReleaseSlot(nil)
	if n := take(); n != 5 { // four of them are left
		t.Errorf("%d after one has ended", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testkit.Some(t, testkit.Err(s.ReserveSlot(ctx, nil)), "it took one more")
}

// A worker of one processor has one for steps, unless it is told otherwise.
func TestOneProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for want, o := range map[int]Options{1: {}, 4: {CPU: 4}, 3: {CPU: 4, Cores: 3}} {
		testkit.Is(t, o.Has().CPUs, want, o)
	}
}

func ended(s *shift) string {
	select {
	case why := <-s.ended:
		return why
	default:
		return ""
	}
}

func TestShift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShift(Shift{IdleExit: 10 * time.Minute})
		s.start()
		time.Sleep(9 * time.Minute)
		done := s.working()
		also := s.working()
		time.Sleep(time.Hour)
		done(true)
		time.Sleep(time.Hour)
		if why := ended(s); why != "" {
			t.Fatalf("it ended at work: %s", why)
		}
		also(true)
		for range 9 { // what it leaves to others keeps it no longer
			time.Sleep(time.Minute)
			left := s.working()
			time.Sleep(time.Second)
			left(false)
		}
		if why := ended(s); why != "" {
			t.Fatalf("it ended too early: %s", why)
		}
		time.Sleep(time.Minute)
		testkit.Is(t, ended(s), "there was nothing to do for 10m0s", "it says")
		if !s.fits(1000 * time.Hour) {
			t.Error("it has no end, and something does not fit")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := newShift(Shift{Until: time.Hour, IdleExit: 2 * time.Hour})
		s.start()
		if !s.fits(59 * time.Minute) {
			t.Error("59 minutes do not fit into an hour")
		}
		done := s.working()
		time.Sleep(30 * time.Minute)
		also := s.working()
		if s.nothingElse() {
			t.Error("it is at work, and there is nothing else to do")
		}
		also(false)
		done(true)
		defer s.working()(true)
		if s.fits(31 * time.Minute) {
			t.Error("31 minutes fit into the second half of an hour")
		}
		if s.nothingElse() {
			t.Error("it began a moment ago, and there is nothing else to do")
		}
		time.Sleep(31 * time.Minute)
		if !s.nothingElse() {
			t.Error("it was offered nothing else for long, and there is something")
		}
		testkit.Says(t, ended(s), "1h0m0s")
		s.end("again")
		testkit.Is(t, ended(s), "", "it ends twice")
	})
}
