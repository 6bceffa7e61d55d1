package roofline

import "slices"

// Assumptions are what a time depends on besides data sheets and counts.
type Assumptions struct {
	HalfEfficiency  float64 `json:"half_efficiency"`  // part of the sheet's products in half precision that is reached
	FloatEfficiency float64 `json:"float_efficiency"` // the same in float32
	Bandwidth       float64 `json:"bandwidth"`        // part of the sheet's bytes a second
	Gap             float64 `json:"gap_s"`            // seconds that each operation takes on the card besides
	Wait            float64 `json:"wait_s"`           // seconds that the host loses with each wait

	Replayed   float64 `json:"replayed"`      // part of the updates that are replayed, where they are
	Replay     float64 `json:"replay_s"`      // seconds of the host for a replay
	NodeLaunch float64 `json:"node_launch_s"` // seconds of the host for an operation of it
	NodeGap    float64 `json:"node_gap_s"`    // Gap of an operation of it
}

// Assumed are the usual ones. None was measured for redsi: no card was at hand.
//
// Gaps are twice what NVIDIA shows in "Getting Started with CUDA Graphs" (2019), of kernels
// of 2.9 µs on a V100: with each, 3.8 µs go by where they are launched one by one, and 3.4 µs
// in a graph. To launch a graph of one chain again took the host 2 µs and 0.2 µs for each
// kernel before CUDA 12.6, and takes about 2.5 µs and a thousandth of a µs since, by NVIDIA's
// "Constant Time Launch for Straight-Line CUDA Graphs" (2024). The old time for each is
// assumed, and a base of ten times either: a replay also uploads a batch and seeds the
// generator. Updates that are not replayed are the first two of each bucket of shapes; a
// training of a million has some hundred buckets, so that one in a hundred is many.
func Assumed() Assumptions {
	return Assumptions{HalfEfficiency: 0.4, FloatEfficiency: 0.7, Bandwidth: 0.7, Gap: 2e-6, Wait: 2e-5,
		Replayed: 0.99, Replay: 2.5e-5, NodeLaunch: 2e-7, NodeGap: 1e-6}
}

// What a time is made of besides classes.
const (
	Gaps = "gaps" // what operations take on the card besides their arithmetic and memory
	Host = "host" // copies to it, waits, and what the card has nothing to do for
)

var sorts = []string{Products, Attention, Pointwise, Head, Update, Caches, Gaps, Host}

// Sorts are what a time is made of, in the order of Parts.
func Sorts() []string { return slices.Clone(sorts) }

// Parts are seconds of Sorts.
type Parts [8]float64

// Seconds is those of all sorts.
func (p Parts) Seconds() (sum float64) {
	for _, x := range p {
		sum += x
	}
	return sum
}

func (p *Parts) add(sort string, seconds float64) { p[slices.Index(sorts, sort)] += seconds }

// Time is how long work takes on a card, in seconds.
type Time struct {
	Seconds float64
	Card    float64 // that the card computes
	Host    float64 // that the host prepares it
	Parts   Parts   // of Seconds
}

// On is the time that work takes: the card's or the host's, whichever is longer, since the
// host is ahead, and what they wait for one another. The host prepares each operation of what
// is not replayed, and of a graph little more than its replay.
func (w Work) On(c Card, a Assumptions) Time {
	peak := c.Float * a.FloatEfficiency
	if half := c.half(w.Precision) * a.HalfEfficiency; half > 0 {
		peak = half
	}
	var t Time
	for _, x := range w.Classes {
		t.Parts.add(x.Name, max(x.Flops/peak, x.Bytes/(c.Bandwidth*a.Bandwidth)))
	}
	nodes := w.Graphed * a.Replayed
	launches := w.Launches - nodes
	t.Parts.add(Gaps, launches*a.Gap+nodes*a.NodeGap)
	t.Card = t.Parts.Seconds() + w.Down/c.Bus
	t.Host = launches*c.Launch + w.Replays*a.Replayed*a.Replay + nodes*a.NodeLaunch + w.Up/c.Bus
	t.Seconds = max(t.Card, t.Host) + w.Waits*a.Wait
	t.Parts.add(Host, t.Seconds-t.Parts.Seconds())
	return t
}
