package main

import (
	"fmt"
	"time"
)

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
	Graphs    *graphs `json:"graphs,omitempty"`   // of a training on a card, since its start

	CPU  time.Duration `json:"-"` // user and system, of the whole process
	Peak float64       `json:"-"` // bytes of resident memory
}

// graphs are those that a training on a card has recorded, how often one was replayed, and how many updates
// were asked for operation by operation.
type graphs struct {
	Recorded int64  `json:"recorded"`
	Replayed int64  `json:"replayed"`
	Single   int64  `json:"single"`
	Failed   string `json:"failed,omitempty"` // why no more were recorded
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

func (v value) better(a, b sample) bool { return v.higher == (v.of(a) > v.of(b)) }

// side is one of the two processes that a line compares.
type side struct {
	command func(*env) ([]string, error) // program and arguments
}

// pieceOn is our side: a piece whose first argument is what made makes.
func pieceOn(piece string, made func(*env) (string, error), more ...string) side {
	return side{command: func(e *env) ([]string, error) {
		path, err := made(e)
		return ours(piece, append([]string{path}, more...)...), err
	}}
}

// scriptOn is a peer's side: a script of a group whose first argument is what made makes.
func scriptOn(group, script string, made func(*env) (string, error), more ...string) side {
	return side{command: func(e *env) ([]string, error) {
		path, err := made(e)
		if err != nil {
			return nil, err
		}
		return e.python(group, script, append([]string{path}, more...)...)
	}}
}

// line is one comparison; without a target it has no floor. unlike says that the two sides do different work on
// purpose, so that Check need not agree; once, that what is measured is not a time,
// so that one pair says enough; asked, that it takes long and is measured only
// by its name; sliced, that both sides are workloads, which start once and
// alternate in slices; whole, that a slice of ours is a work from its beginning to
// its end, and the peer's are parts of it, as many as its time allows.
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
	toEnd  bool
	needs  func(*env) error // what this machine lacks for it; nil: nothing can be
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

	// Of a whole work: how much of it each side's figure is of.
	OursOf float64 `json:"ours_of,omitempty"`
	PeerOf float64 `json:"peer_of,omitempty"`
	Graphs *graphs `json:"graphs,omitempty"` // of ours
}

// notes is what a row says beside its figures.
func (r result) notes() (text string) {
	if r.OursOf > 0 {
		text += fmt.Sprintf("  of %.0f and %.0f", r.OursOf, r.PeerOf)
	}
	if r.Graphs != nil {
		text += fmt.Sprintf("  %d graphs, replayed %d times; %d updates without", r.Graphs.Recorded, r.Graphs.Replayed, r.Graphs.Single)
		if r.Graphs.Failed != "" {
			text += ": " + r.Graphs.Failed
		}
	}
	return text
}
