package worker

import (
	"context"
	"sync"

	"go.temporal.io/sdk/worker"
)

// slots lets a worker take most activities of a queue at a time, and one more for each that waits until it fits
// beside the running ones, so that an activity that asks for much keeps no slot from others. At most most activities
// wait; other workers get the rest.
type slots struct {
	most int

	mu             sync.Mutex
	taken, waiting int
	freed          chan struct{} // is closed when a slot may be free
}

func newSlots(most int) *slots { return &slots{most: most, freed: make(chan struct{})} }

// addWaiting notes that an activity waits, until over is called.
func (s *slots) addWaiting() (over func()) {
	s.change(func() { s.waiting++ })
	return func() { s.change(func() { s.waiting-- }) }
}

func (s *slots) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.freed)
	s.freed = make(chan struct{})
}

// ReserveSlot takes a slot when one is free.
func (s *slots) ReserveSlot(ctx context.Context, info worker.SlotReservationInfo) (*worker.SlotPermit, error) {
	for {
		s.mu.Lock()
		freed := s.freed
		s.mu.Unlock()
		if p := s.TryReserveSlot(info); p != nil {
			return p, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// TryReserveSlot takes a slot if one is free.
func (s *slots) TryReserveSlot(worker.SlotReservationInfo) *worker.SlotPermit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken-min(s.waiting, s.most) >= s.most {
		return nil
	}
	s.taken++
	return &worker.SlotPermit{}
}

// MarkSlotUsed has nothing to note.
func (s *slots) MarkSlotUsed(worker.SlotMarkUsedInfo) {}

// ReleaseSlot gives a slot back.
func (s *slots) ReleaseSlot(worker.SlotReleaseInfo) { s.change(func() { s.taken-- }) }

// MaxSlots returns how many activities work at a time, without the waiting ones.
func (s *slots) MaxSlots() int { return s.most }

// tuner is the SDK's tuner, with other slots for activities.
type tuner struct {
	worker.WorkerTuner
	slots *slots
}

func newTuner(s *slots) worker.WorkerTuner {
	fixed, err := worker.NewFixedSizeTuner(worker.FixedSizeTunerOptions{}) // the SDK's defaults
	if err != nil {
		panic(err)
	}
	return tuner{fixed, s}
}

// GetActivityTaskSlotSupplier returns the slots for activities.
func (t tuner) GetActivityTaskSlotSupplier() worker.SlotSupplier { return t.slots }
