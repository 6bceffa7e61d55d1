package usage

import (
	"math"
	"sync"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// Machine is where a Meter reads. A value is unknown if its function is nil or returns false.
type Machine struct {
	CPU    func() (time.Duration, bool) // of this process so far, user and system
	Memory Level                        // of this process
	Energy []Counter
}

// Level is something that goes up and down.
type Level struct {
	Now  func() (int64, bool) // at this moment
	High func() (int64, bool) // the most since the process began
}

// Card is an accelerator that a step computes on.
type Card struct {
	Name   string
	Memory Level // of this process's tensors there
}

// Counter is a counter of energy, which has to be read more often than it wraps.
type Counter struct {
	Of    string  // "processors", "cards"
	Wrap  float64 // joules after which it starts at 0; 0: never
	Joule func() (float64, bool)
}

// How often counters are read while a step runs, and how old a reading of energy may be at a step's beginning and end.
const (
	every = 250 * time.Millisecond
	fresh = 100 * time.Millisecond
)

// Meter measures the steps of a process, which run side by side. A nil Meter measures nothing.
type Meter struct {
	m     Machine
	now   func() time.Time
	watch bool // whether to read from time to time while steps run

	mu     sync.Mutex
	at     map[*Span]bool // running steps
	timer  *time.Timer    // of the next reading; nil while no step is running
	read   time.Time      // when energy was read last
	energy []tally
}

// tally adds up what a counter gains.
type tally struct {
	last, sum float64
	valid     bool
	lost      int // how often it told nothing: no sum over such a time is known
}

// New begins to measure on a machine.
func New(m Machine) *Meter {
	return &Meter{m: m, now: time.Now, watch: true, at: map[*Span]bool{}, energy: make([]tally, len(m.Energy))}
}

// Span is the time of one step.
type Span struct {
	meter   *Meter
	beside  int
	cpu     time.Duration
	cpuRead bool
	memory  peak
	energy  []tally

	card       *Card
	cardMemory peak
}

// peak is the highest reading of a level.
type peak struct {
	first, most, high int64
	valid             bool
}

func (p *peak) see(l Level) {
	if l.Now != nil {
		if n, ok := l.Now(); ok {
			p.most, p.valid = max(p.most, n), true
		}
	}
}

func (p *peak) begin(l Level) {
	p.see(l)
	p.first = p.most
	if l.High != nil {
		p.high, _ = l.High()
	}
}

// end returns the highest value: the level's own high mark if that rose, else the highest reading.
func (p *peak) end(l Level) (int64, bool) {
	p.see(l)
	if l.High != nil {
		if high, ok := l.High(); ok && high > p.high {
			return high, true
		}
	}
	return p.most, p.valid
}

// Begin says that a step begins.
func (m *Meter) Begin() *Span {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &Span{meter: m}
	if m.m.CPU != nil {
		s.cpu, s.cpuRead = m.m.CPU()
	}
	s.memory.begin(m.m.Memory)
	m.readEnergy(fresh)
	s.energy = append(s.energy, m.energy...)
	m.at[s] = true
	for x := range m.at {
		x.beside = max(x.beside, len(m.at)-1)
	}
	if m.watch && m.timer == nil {
		m.timer = time.AfterFunc(every, m.look)
	}
	return s
}

// OnCard says that the step computes on a card from now on.
func (s *Span) OnCard(c Card) {
	if s == nil {
		return
	}
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	s.card = &c
	s.cardMemory.begin(c.Memory)
}

// look reads the memory of running steps and the energy, periodically as long as steps run.
func (m *Meter) look() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for s := range m.at {
		s.memory.see(m.m.Memory)
		if s.card != nil {
			s.cardMemory.see(s.card.Memory)
		}
	}
	m.readEnergy(every)
	if m.timer != nil {
		m.timer.Reset(every)
	}
}

// readEnergy adds what the counters have gained, unless they were read a moment ago.
func (m *Meter) readEnergy(unless time.Duration) {
	if len(m.m.Energy) == 0 || m.now().Sub(m.read) < unless {
		return
	}
	m.read = m.now()
	for i, c := range m.m.Energy {
		t := &m.energy[i]
		v, ok := c.Joule()
		if !ok {
			t.valid = false
			t.lost++
			continue
		}
		switch gained := v - t.last; {
		case !t.valid: // its first reading
		case gained >= 0:
			t.sum += gained
		case c.Wrap > 0:
			t.sum += gained + c.Wrap
		}
		t.last, t.valid = v, true
	}
}

// End says that the step has ended, and returns what it used. What its program used replaces the process's figures.
func (s *Span) End() *artifacts.Used {
	if s == nil {
		return nil
	}
	m := s.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.at, s)
	if len(m.at) == 0 && m.timer != nil {
		m.timer.Stop()
		m.timer = nil
	}
	u := &artifacts.Used{Beside: s.beside}
	if s.cpuRead {
		if now, ok := m.m.CPU(); ok {
			u.CPU, u.CPUOf = max(0, now-s.cpu).Round(time.Microsecond).Seconds(), artifacts.CPUOfStep
			if s.beside > 0 {
				u.CPUOf = artifacts.CPUOfProcess
			}
		}
	}
	// What the process had before is not the step's. Nothing is known of a step that found room in that, or ran beside
	// others.
	if n, ok := s.memory.end(m.m.Memory); ok && s.memory.valid && s.beside == 0 && n > s.memory.first {
		u.Memory, u.MemoryOf = n-s.memory.first, artifacts.MemoryOfStep
	}
	if s.card != nil {
		u.Card = s.card.Name
		u.CardMemory, _ = s.cardMemory.end(s.card.Memory)
	}
	m.readEnergy(fresh)
	for i, c := range m.m.Energy {
		if from, to := s.energy[i], m.energy[i]; from.valid && to.valid && from.lost == to.lost {
			u.Energy += to.sum - from.sum
			if u.EnergyOf != "" {
				u.EnergyOf += ", "
			}
			u.EnergyOf += c.Of
		}
	}
	u.Energy = math.Round(u.Energy*1000) / 1000
	return u
}
