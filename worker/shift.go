package worker

import (
	"fmt"
	"sync"
	"time"
)

// Shift is how long a worker works, for machines that are lent by the hour. Zeros are no bounds.
type Shift struct {
	IdleExit time.Duration // end after so long without work
	Until    time.Duration // end after so long; before, take nothing that will not fit
}

// shift knows what a worker does and when it is to end.
type shift struct {
	Shift
	began time.Time

	mu    sync.Mutex
	busy  int
	last  time.Time // since when it has been idle
	idle  *time.Timer
	ended chan string
	once  sync.Once // of what is sent there
}

func newShift(s Shift) *shift { return &shift{Shift: s, ended: make(chan string, 1)} }

func (s *shift) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.began = time.Now()
	s.last = s.began
	if s.Until > 0 {
		time.AfterFunc(s.Until, func() { s.end(fmt.Sprintf("its %s are up", s.Until)) })
	}
	s.rest()
}

// rest sets the timer of IdleExit, if nothing is being done. It is called locked.
func (s *shift) rest() {
	if s.IdleExit > 0 && s.busy == 0 {
		s.idle = time.AfterFunc(s.IdleExit-time.Since(s.last), func() {
			s.mu.Lock()
			idle := s.busy == 0
			s.mu.Unlock()
			if idle {
				s.end(fmt.Sprintf("there was nothing to do for %s", s.IdleExit))
			}
		})
	}
}

// working notes that an activity begins; done notes its end, and whether it did something.
func (s *shift) working() (done func(something bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
	if s.idle != nil {
		s.idle.Stop()
	}
	return func(something bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.busy--; something {
			s.last = time.Now()
		}
		s.rest()
	}
}

// fits reports whether work of that length ends before the worker does.
func (s *shift) fits(took time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Until == 0 || took < s.Until-time.Since(s.began)
}

// unfitTime is how long a worker looks for other work after it was offered a step that does not fit: less than the
// time for which that step rests.
const unfitTime = 4 * time.Second

// nothingElse reports, during an activity, whether there has been no other work for unfitTime.
func (s *shift) nothingElse() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy <= 1 && time.Since(s.last) >= unfitTime
}

// end says, once, why the worker is to end.
func (s *shift) end(why string) { s.once.Do(func() { s.ended <- why }) }
