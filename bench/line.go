package main

import "time"

// sample is what one process measured. A piece prints it as the last line of its
// standard output; the bench adds what the system says about the process.
type sample struct {
	Seconds float64 `json:"seconds"` // of the work itself: no start-up, no imports
	Work    float64 `json:"work"`    // bytes, records or iterations done in them
	Check   string  `json:"check"`   // what was found: equal on both sides
	// Processor is the processor's seconds of a slice, or of all processes of a command.
	Processor float64 `json:"processor"`
	Written   float64 `json:"written,omitempty"`  // bytes that these wrote to disk
	Resident  float64 `json:"resident,omitempty"` // bytes, at most, of a command

	CPU  time.Duration `json:"-"` // user and system, of the whole process
	Peak float64       `json:"-"` // bytes of resident memory
}

// value is the number that a line compares.
type value struct {
	unit   string
	of     func(sample) float64
	higher bool // is better
}

var (
	throughput = value{"MB/s", func(s sample) float64 { return s.Work / 1e6 / s.Seconds }, true}
	seconds    = value{"s", func(s sample) float64 { return s.Seconds }, false}
	perUnit    = value{"ms", func(s sample) float64 { return 1e3 * s.Seconds / s.Work }, false}
	peakMemory = value{"MB", func(s sample) float64 { return s.Peak / 1e6 }, false}
)

// side is one of the two that a line compares: a process, or a bound in the line's
// unit.
type side struct {
	command func(*env) ([]string, error) // program and arguments
	bound   float64
}

// line is one comparison. unlike says that the two sides do different work on
// purpose, so that Check need not agree; once, that what is measured is no time,
// so that one pair says enough; asked, that it takes long and is measured only
// by its name; sliced, that both sides are workloads, which start once and
// alternate in slices.
type line struct {
	name   string
	doc    string
	value  value
	ours   side
	peer   side
	target float64
	unlike bool
	once   bool
	asked  bool
	sliced bool
	needs  func() error // what this machine lacks for it; nil: nothing can be
}

// ratio is above 1 where ours is better.
func (l line) ratio(ours, peer float64) float64 {
	if l.value.higher {
		return ours / peer
	}
	return peer / ours
}

// result is one row of results.jsonl.
type result struct {
	Name  string  `json:"name"`
	Ours  float64 `json:"ours"`
	Peer  float64 `json:"peer"`
	Unit  string  `json:"unit"`
	Ratio float64 `json:"ratio"`
}
