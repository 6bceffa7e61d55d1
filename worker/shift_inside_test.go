package worker

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

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
