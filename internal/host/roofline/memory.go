package roofline

import (
	"fmt"
	"strconv"
)

// Memory is bytes of a card that live at the peak of an update, by what they are for.
type Memory struct {
	Weights     int64 `json:"weights"`     // in float32
	Copies      int64 `json:"copies"`      // of weights in half precision
	Optimizer   int64 `json:"optimizer"`   // what it remembers
	Gradients   int64 `json:"gradients"`   // with what accumulation adds
	Activations int64 `json:"activations"` // kept for the backward pass, or made by it
	Scratch     int64 `json:"scratch"`     // of the optimizer, or of the loss
	Graphs      int64 `json:"graphs"`      // kept by what is replayed, beside the first update of another bucket
}

// Total is all of them.
func (m Memory) Total() int64 {
	return m.Weights + m.Copies + m.Optimizer + m.Gradients + m.Activations + m.Scratch + m.Graphs
}

// headScratch bounds the logits that the loss has at a time, in its slices.
const headScratch = 256 << 20

// Per token and element of a width, what a layer keeps for the backward pass, in bytes of
// float32 and of the compute type: fitted to the counts, as those of work are.
const (
	keptWide = 9.0 // of the width, at each residual connection: sums and masks
	keptHalf = 2.0 // the same, of the compute type: what products read and write
	keptFF   = 2.0 // of the feed-forward width
	keptMask = 1.0 // bytes of its mask
)

// Memory is that of an update: what the sizes say, and what lives besides weights and the
// optimizer's state multiplied as bytes are (calibrate.go). Graphs of all buckets share one
// memory, as large as an update's, which libtorch gives to nothing else; the first update of
// a bucket is launched, and needs as much again. What CUDA keeps of a graph itself is in the
// reserve.
func (t Training) Memory() Memory {
	m := t.plain()
	by := factor(OpTrain, t.Model, t.Precision, Counted.peak, Counted.livePeak)
	for _, part := range []*int64{&m.Gradients, &m.Activations, &m.Scratch} {
		*part = int64(by * float64(*part))
		if t.replayed() {
			m.Graphs += *part
		}
	}
	return m
}

// plain is what the sizes say.
func (t Training) plain() Memory {
	m, h := t.Model, element(t.Precision)
	p := float64(m.Parameters())
	var out Memory
	out.Weights = int64(4 * p)
	if h < 4 {
		out.Copies = int64(h * p)
	}
	out.Optimizer = t.remembered()
	table := float64(m.Vocabulary * m.Width)
	accumulated := 0.0
	if t.Accumulate > 1 {
		accumulated = h * p
	}
	kept := t.kept()
	logits := min(headScratch, 3*h*t.part().LabelTokens*float64(m.Vocabulary))
	// The output matrix has the first gradient, while all is kept; the last one is there when
	// nothing is; then the optimizer works beside all of them.
	loss, update := kept+h*table+logits, h*p+t.updateScratch()
	if loss >= update {
		out.Gradients, out.Activations, out.Scratch = int64(h*table+accumulated), int64(kept), int64(logits)
	} else {
		out.Gradients, out.Scratch = int64(h*p+accumulated), int64(t.updateScratch())
	}
	return out
}

// remembered is the optimizer's state.
func (t Training) remembered() int64 {
	m := t.Model
	if t.Optimizer == "adamw" {
		return 8 * m.Parameters()
	}
	layer := 4*(m.Width+m.Inner) + 2*(m.Width+m.FF)
	return 4 * (m.Vocabulary + m.Width + (m.Encoder+m.Decoder)*layer + m.Decoder*4*(m.Width+m.Inner))
}

// updateScratch is what the optimizer has beside state and gradients: numbers in float32 of
// the largest parameters that it takes together.
func (t Training) updateScratch() float64 {
	m := t.Model
	together := max(m.Vocabulary*m.Width, (m.Encoder+m.Decoder)*m.Width*m.FF, (4*m.Encoder+8*m.Decoder)*m.Width*m.Inner)
	if t.Optimizer == "adamw" {
		return 4 * float64(m.Parameters()) / 4
	}
	return 12 * float64(together)
}

// kept is what the forward pass keeps.
func (t Training) kept() float64 {
	m, h := t.Model, element(t.Precision)
	b := t.part()
	width, inner, ff, heads := float64(m.Width), float64(m.Inner), float64(m.FF), float64(m.Heads)
	if m.Gated {
		ff *= 2
	}
	token := func(connections, attentions float64) float64 {
		return connections*width*(keptWide+keptHalf*h) + attentions*inner*5*h + ff*(keptFF*h+keptMask)
	}
	scores := func(n, rows, l float64) float64 { return n * heads * rows * l * (2*h + 1) }
	encoder := b.InputTokens*token(2, 1) + scores(b.Examples, b.LongestInput, b.LongestInput)
	decoder := b.LabelTokens*token(3, 2) + b.InputTokens*2*inner*h + scores(b.Examples, b.LongestLabel, b.LongestLabel) + scores(b.Examples, b.LongestLabel, b.LongestInput)
	all := float64(m.Encoder)*encoder + float64(m.Decoder)*decoder
	if t.Recompute { // only what a layer begins with, and one layer
		all = 4*width*(float64(m.Encoder)*b.InputTokens+float64(m.Decoder)*b.LabelTokens) + max(encoder, decoder)
	}
	return all
}

// Reserved is what of a card's memory tensors cannot have: CUDA's context, libraries'
// workspaces and what lies between blocks. An assumption.
func Reserved(card int64) int64 { return 600<<20 + card/20 }

// Fit says whether an update fits a card.
type Fit struct {
	Needs  int64    `json:"needs"` // bytes at the peak, the reserve not counted
	Room   int64    `json:"room"`  // bytes of the card but for the reserve
	Fits   bool     `json:"fits"`
	Change []string `json:"change,omitempty"` // what would make it fit; none: nothing does
}

// Fits says whether an update fits the memory of a card, and if not what to change, the
// least first.
func Fits(card int64, t Training) Fit {
	f := Fit{Needs: t.Memory().Total(), Room: card - Reserved(card)}
	if f.Fits = f.Needs <= f.Room; f.Fits {
		return f
	}
	room := func(t Training) bool { return t.Memory().Total() <= f.Room }
	for parts := 2 * max(1, t.Accumulate); parts <= int(t.Batch.Examples); parts *= 2 {
		cut := t
		cut.Accumulate = parts
		if room(cut) {
			f.Change = append(f.Change, "accumulate = "+strconv.Itoa(parts))
			break
		}
	}
	if again := t; !t.Recompute {
		again.Recompute = true
		if room(again) {
			f.Change = append(f.Change, "checkpoint_activations = true")
		}
	}
	if half := t; element(t.Precision) == 4 {
		half.Precision = "bf16"
		if room(half) {
			f.Change = append(f.Change, `precision = "bf16"`)
		}
	}
	if other := t; t.Optimizer == "adamw" {
		other.Optimizer = "adafactor"
		if room(other) {
			f.Change = append(f.Change, `optimizer = "adafactor"`)
		}
	}
	for _, c := range Cards() {
		if room := c.Memory - Reserved(c.Memory); c.Memory > card && f.Needs <= room {
			f.Change = append(f.Change, fmt.Sprintf("a card with %d GB", c.Memory/1_000_000_000))
			break
		}
	}
	return f
}
