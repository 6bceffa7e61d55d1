package worker

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
		if why := ended(s); why != "there was nothing to do for 10m0s" {
			t.Errorf("it says %q", why)
		}
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
		if why := ended(s); !strings.Contains(why, "1h0m0s") {
			t.Errorf("it says %q", why)
		}
		s.end("again")
		if why := ended(s); why != "" {
			t.Errorf("it ends twice: %s", why)
		}
	})
}
