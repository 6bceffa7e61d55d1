package usage

import (
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/values"
)

// Sum is what several steps used together, with the number of steps behind each figure.
type Sum struct {
	Steps    int           `json:"steps"`
	Took     time.Duration `json:"-"` // one after another
	TookS    float64       `json:"took_s"`
	CPU      float64       `json:"cpu_s"` // of steps whose own is known
	CPUSteps int           `json:"cpu_steps"`
	Memory   int64         `json:"memory"` // the most of one step
	MemSteps int           `json:"memory_steps"`
	Read     int64         `json:"read"`
	Written  int64         `json:"written"`
	Measured int           `json:"measured"` // steps whose bytes are known
	Energy   float64       `json:"energy_j"` // of machines while steps ran: each of several side by side counts all
	EnergyOf int           `json:"energy_steps"`
	Shared   int           `json:"energy_shared"` // steps of EnergyOf that ran beside others

	CardTook   time.Duration `json:"-"` // of steps that ran on a card
	CardS      float64       `json:"card_s"`
	CardMemory int64         `json:"card_memory"` // the most of one step
}

// Join adds the figures of other steps.
func (s *Sum) Join(o Sum) {
	memory, card := max(s.Memory, o.Memory), max(s.CardMemory, o.CardMemory)
	values.Add(s, o)
	s.Memory, s.CardMemory = memory, card
	s.TookS, s.CardS = s.Took.Seconds(), s.CardTook.Seconds()
}

// Add counts a step that took so long and used u; nil: not known.
func (s *Sum) Add(took time.Duration, u *artifacts.Used) {
	one := Sum{Steps: 1, Took: took}
	if u != nil {
		one.Measured, one.Read, one.Written = 1, u.Read, u.Written
		if u.Own() {
			one.CPU, one.CPUSteps = u.CPU, 1
		}
		if own := (&artifacts.Result{Used: u}).Memory(); own > 0 {
			one.Memory, one.MemSteps = own, 1
		}
		if u.EnergyOf != "" {
			one.Energy, one.EnergyOf, one.Shared = u.Energy, 1, min(u.Beside, 1)
		}
		if u.CardMemory > 0 {
			one.CardTook, one.CardMemory = took, u.CardMemory
		}
	}
	s.Join(one)
}

// Spent is what all runs of a pipeline took, as far as the store has their records: the work behind results, each key
// once, and the work of steps that failed or were cancelled.
type Spent struct {
	Runs      int  `json:"runs"`
	Damaged   int  `json:"damaged_runs"` // whose records cannot be read: they count nowhere else
	Results   Sum  `json:"results"`      // with their parts
	Gone      int  `json:"results_gone"` // results that the store no longer has: how long they took is in the records
	Failed    Lost `json:"failed"`
	Cancelled Lost `json:"cancelled"`
}

// Lost is the work of steps that left no result: the last attempt of each, in each run.
type Lost struct {
	Steps int           `json:"steps"`
	Took  time.Duration `json:"-"`
	TookS float64       `json:"took_s"`
}

// Add counts a step that took so many seconds.
func (l *Lost) Add(seconds float64) {
	l.Steps++
	l.Took += time.Duration(seconds * float64(time.Second))
	l.TookS = l.Took.Seconds()
}

// Took returns the time of all work, one step after another.
func (s *Spent) Took() time.Duration { return s.Results.Took + s.Failed.Took + s.Cancelled.Took }
