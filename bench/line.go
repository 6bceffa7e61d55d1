package main

import (
	"cmp"
	"fmt"
	"slices"
)

// sample is what one process measured, and prints as the last line of its output; the bench adds what the system says of it.
type sample struct {
	Seconds float64 `json:"seconds"` // of the work itself: no start-up, no imports
	Work    float64 `json:"work"`    // bytes, records or iterations done in them
	Check   string  `json:"check"`   // what was found: equal on both sides
	// Processor is the processor's seconds of a slice, or of a process and its children.
	Processor float64  `json:"processor"`
	Written   float64  `json:"written,omitempty"`  // bytes that these wrote to disk
	Resident  float64  `json:"resident,omitempty"` // bytes, at most, of a command
	Graphs    *graphs  `json:"graphs,omitempty"`   // of a training on a card, since its start
	Traffic   *traffic `json:"traffic,omitempty"`  // of a server
	Is        string   `json:"is,omitempty"`       // what measured: versions and settings

	Peak float64 `json:"-"` // bytes of resident memory
}

// graphs counts what a training on a card recorded and replayed, and the updates asked for operation by operation.
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

// order has the better one first.
func (v value) order(a, b sample) int {
	if v.higher {
		a, b = b, a
	}
	return cmp.Compare(v.of(a), v.of(b))
}

// side is one of the processes that a line compares.
type side struct {
	command func(*env) ([]string, error) // program and arguments
	is      string                       // versions and settings of a peer that does not tell them itself
}

// pieceOn is our side: a piece whose last argument is the path of its input.
func pieceOn(piece string, input func(*env) (string, error), more ...string) side {
	return side{command: func(e *env) ([]string, error) {
		path, err := input(e)
		return ours(piece, append(slices.Clip(more), path)...), err
	}}
}

// scriptOn is a peer's side: a script of a group whose first argument is the path of its input.
func scriptOn(group, script string, input func(*env) (string, error), more ...string) side {
	return side{command: func(e *env) ([]string, error) {
		path, err := input(e)
		if err != nil {
			return nil, err
		}
		return e.python(group, script, append([]string{path}, more...)...)
	}}
}

// line is one comparison, with the fastest of peer and others; without a target it has no floor. unlike says that the sides do
// different work on purpose, so that Check need not agree; once, that one pair says enough; asked, that it takes long and is measured only
// by its name; sliced, that both sides are workloads, which start once and alternate in slices, and of which a row of
// peak memory tells, too, unless they are noMemory; toEnd, that a slice of ours is a work from its beginning to its end,
// and the peer's are parts of it, as many as its time allows. takes are its seconds on two idle cores of an AMD EPYC virtual
// machine, what it needs being there; 0 of what is measured only by its name.
type line struct {
	name   string
	doc    string
	value  value
	ours   side
	peer   side
	others []side
	target float64
	takes  float64
	unlike bool
	once   bool
	asked  bool
	sliced bool
	toEnd  bool
	needs  func(*env) error // what this machine lacks for it; nil: nothing can be

	noMemory bool
}

func (l line) sides() []side { return append([]side{l.ours, l.peer}, l.others...) }

// ratio is above 1 where ours is better.
func (l line) ratio(ours, peer sample) float64 {
	if l.value.higher {
		return l.value.of(ours) / l.value.of(peer)
	}
	return l.value.of(peer) / l.value.of(ours)
}

// The rule by which a line ends, K-best of Bryant and O'Hallaron (Computer Systems, 2003, chapter 9): the agreeing best of each
// side are so near that the ratio, by any of them, varies by less than narrow; or there are most pairs, or no more begin
// after patience, in seconds.
const (
	agreeing = 3
	narrow   = 1.05
	most     = 9
	patience = 30
	far      = 1.5 // times the floor or the fastest peer: what is so far from it is not measured more often
)

// interval is the range of the ratio by any of the agreeing best of each side, which it also puts in order, the best
// first.
func (l line) interval(sides [2][]sample) (low, high float64) {
	for _, s := range sides {
		slices.SortStableFunc(s, l.value.order)
	}
	last := min(agreeing, len(sides[0]), len(sides[1])) - 1
	return l.ratio(sides[0][last], sides[1][0]), l.ratio(sides[0][0], sides[1][last])
}

// fastest is the place among sides of the fastest peer, 1 or more.
func (l line) fastest(sides [][]sample) int {
	best := 1
	for i := range sides {
		if i > 1 && len(sides[i]) > 0 && l.value.order(slices.MinFunc(sides[i], l.value.order), slices.MinFunc(sides[best], l.value.order)) < 0 {
			best = i
		}
	}
	return best
}

// slow says that the peer at place i is behind the fastest one: far, or after as many samples as a line has at least.
func (l line) slow(sides [][]sample, i int) bool {
	best := l.fastest(sides)
	if i == 0 || i == best || len(sides[i]) == 0 {
		return false
	}
	return len(sides[i]) >= agreeing || l.ratio(slices.MinFunc(sides[best], l.value.order), slices.MinFunc(sides[i], l.value.order)) > far
}

// enough says whether a line ends with these samples of ours and of the fastest peer, after so many seconds.
func (l line) enough(e *env, sides [2][]sample, took float64) bool {
	n := min(len(sides[0]), len(sides[1]))
	switch {
	case n == 0:
		return false
	case l.once:
		return true
	case l.toEnd:
		ours := 0.0
		for _, s := range sides[0] {
			ours += s.Seconds
		}
		return n >= e.pairs || ours >= e.peerTime.Seconds()
	}
	low, high := l.interval(sides)
	if n < e.pairs {
		return n > 1 && l.target > 0 && low > far*l.target
	}
	return high <= narrow*low || n >= most || took > patience
}

// result is one row of rows.jsonl.
type result struct {
	Name  string  `json:"name"`
	Ours  float64 `json:"ours"`
	Peer  float64 `json:"peer"`
	Unit  string  `json:"unit"`
	Ratio float64 `json:"ratio"`

	// Of several pairs: how many, and the ratio by any of the best three of each side.
	Pairs int     `json:"pairs,omitempty"`
	Low   float64 `json:"low,omitempty"`
	High  float64 `json:"high,omitempty"`

	// Of a work to its end: how much of it each side's figure is of.
	OursOf float64 `json:"ours_of,omitempty"`
	PeerOf float64 `json:"peer_of,omitempty"`
	Graphs *graphs `json:"graphs,omitempty"` // of ours

	OursTraffic *traffic `json:"ours_traffic,omitempty"`
	PeerTraffic *traffic `json:"peer_traffic,omitempty"`

	Against string  `json:"against,omitempty"` // the peer's versions and settings
	Others  []other `json:"others,omitempty"`  // peers that are slower

	session
}

type other struct {
	Is    string  `json:"is"`
	Value float64 `json:"value"`
	Ratio float64 `json:"ratio"`
}

// session is when and where rows were measured.
type session struct {
	Date     string `json:"date,omitempty"`
	Revision string `json:"revision,omitempty"` // of git, with a + where files differ from it
	Machine  string `json:"machine,omitempty"`
	Threads  int    `json:"threads,omitempty"` // of each side
}

// notes is what a row says beside its figures.
func (r result) notes() (text string) {
	if r.Pairs > 0 {
		text += fmt.Sprintf("  %.2f to %.2f, %d pairs", r.Low, r.High, r.Pairs)
	}
	if r.OursOf > 0 {
		text += fmt.Sprintf("  of %.0f and %.0f", r.OursOf, r.PeerOf)
	}
	if r.OursTraffic != nil && r.PeerTraffic != nil {
		text += "  " + r.OursTraffic.beside(r.PeerTraffic)
	}
	if r.Against != "" {
		text += "  " + r.Against
	}
	for _, o := range r.Others {
		text += fmt.Sprintf("; %s %.2f", o.Is, o.Ratio)
	}
	if r.Graphs != nil {
		text += fmt.Sprintf("  %d graphs, replayed %d times; %d updates without", r.Graphs.Recorded, r.Graphs.Replayed, r.Graphs.Single)
		if r.Graphs.Failed != "" {
			text += ": " + r.Graphs.Failed
		}
	}
	return text
}
