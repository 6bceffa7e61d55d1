package usage

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/testkit"
)

// fake is a machine whose counters a test sets.
type fake struct {
	cpu          time.Duration
	memory, high int64
	card         int64
	joules       float64
	dead         bool
	clock        time.Time
}

func (f *fake) meter() *Meter {
	m := New(Machine{
		CPU:    func() (time.Duration, bool) { return f.cpu, true },
		Memory: Level{Now: func() (int64, bool) { return f.memory, true }, High: func() (int64, bool) { return f.high, true }},
		Energy: []Counter{{Of: "processors", Wrap: 100, Joule: func() (float64, bool) { return f.joules, !f.dead }}},
	})
	f.clock = time.Unix(1, 0)
	m.now = func() time.Time { f.clock = f.clock.Add(time.Minute); return f.clock }
	m.watch = false
	return m
}

// TestSpan: a step alone in its process has the process's time; its memory is what the process
// grew by, to the most that was read, or to its high mark if that moved; counters of energy wrap.
func TestSpan(t *testing.T) {
	f := &fake{cpu: time.Second, memory: 50, high: 500, joules: 90}
	m := f.meter()
	s := m.Begin()
	s.OnCard(Card{Name: "A card", Memory: Level{Now: func() (int64, bool) { return f.card, true }}})
	f.memory, f.card, f.joules = 80, 7, 95
	m.look()
	f.memory, f.card, f.joules, f.cpu = 60, 3, 15, 3500*time.Millisecond
	want := &artifacts.Used{CPU: 2.5, CPUOf: artifacts.CPUOfStep, Memory: 30, MemoryOf: artifacts.MemoryOfStep, Card: "A card", CardMemory: 7, Energy: 25, EnergyOf: "processors"}
	testkit.Deep(t, s.End(), want)
	s = m.Begin()
	f.high = 700
	if got := s.End(); got.Memory != 640 || got.MemoryOf != artifacts.MemoryOfStep || got.Card != "" || got.CardMemory != 0 {
		t.Errorf("%+v", got)
	}
	if got := m.Begin().End(); got.Memory != 0 || got.MemoryOf != "" {
		t.Errorf("%+v, of a step that found room in what the process had", got)
	}
}

// TestBeside: of steps that ran side by side the process's time is no one's own, nor is its
// memory, also if one of them had begun when it was alone.
func TestBeside(t *testing.T) {
	f := &fake{memory: 500}
	m := f.meter()
	first, second := m.Begin(), m.Begin()
	f.cpu, f.memory = time.Second, 900
	for _, s := range []*Span{second, first} {
		if got := s.End(); got.CPUOf != artifacts.CPUOfProcess || got.Beside != 1 || got.CPU != 1 || got.MemoryOf != "" {
			t.Errorf("%+v", got)
		}
	}
	if got := m.Begin().End(); got.CPUOf != artifacts.CPUOfStep || got.Beside != 0 {
		t.Errorf("%+v", got)
	}
}

// TestUnknown: what no counter tells is not there.
func TestUnknown(t *testing.T) {
	testkit.Deep(t, New(Machine{}).Begin().End(), &artifacts.Used{})
	var none *Meter
	span := none.Begin()
	span.OnCard(Card{Name: "A card"})
	if got := span.End(); got != nil {
		t.Errorf("%+v", got)
	}
	f := &fake{joules: 1}
	m := f.meter()
	s := m.Begin()
	f.dead = true
	m.look()
	f.dead, f.joules = false, 90 // starts over: what it missed is not known
	m.look()
	if got := s.End(); got.Energy != 0 || got.EnergyOf != "" {
		t.Errorf("energy %v of %q, over a gap", got.Energy, got.EnergyOf)
	}
}

// TestHere: this process has used something, as the system tells it.
func TestHere(t *testing.T) {
	m := New(Here())
	s := m.Begin()
	block := make([]byte, 64<<20)
	for i := range block {
		block[i] = byte(i)
	}
	got := s.End()
	if got.CPU <= 0 || got.CPUOf != artifacts.CPUOfStep || got.Memory < int64(len(block))/2 || got.MemoryOf != artifacts.MemoryOfStep || got.Read != 0 {
		t.Errorf("%+v after %d bytes", got, len(block))
	}
}

// TestPowercap: packages and memory are counted, what is within them or holds them is not,
// nor what cannot be read.
func TestPowercap(t *testing.T) {
	folder := t.TempDir()
	for zone, files := range map[string]map[string]string{
		"intel-rapl:0":      {"name": "package-0\n", "energy_uj": "1500000\n", "max_energy_range_uj": "2000000\n"},
		"intel-rapl:0:0":    {"name": "core\n", "energy_uj": "1\n"},
		"intel-rapl:0:1":    {"name": "dram\n", "energy_uj": "250000\n"},
		"intel-rapl:1":      {"name": "psys\n", "energy_uj": "1\n"},
		"intel-rapl:2":      {"name": "package-1\n", "energy_uj": "not a number\n"},
		"intel-rapl-mmio:0": {"name": "package-0\n"},
	} {
		for name, text := range files {
			testkit.Write(t, filepath.Join(folder, zone, name), text)
		}
	}
	got := map[string]float64{}
	for _, c := range processorEnergy(folder) {
		j, ok := c.Joule()
		if !ok || c.Of == "processors" && c.Wrap != 2 {
			t.Errorf("%+v", c)
		}
		got[c.Of] += j
	}
	testkit.Deep(t, got, map[string]float64{"processors": 1.5, "memory": 0.25})
	if c := processorEnergy(filepath.Join(folder, "absent")); c != nil {
		t.Errorf("%v", c)
	}
}
