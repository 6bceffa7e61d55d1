package roofline

import "math"

// Batch is the examples of an update, or of a part of it.
type Batch struct {
	Examples     float64 `json:"examples"`
	InputTokens  float64 `json:"input_tokens"`  // together
	LongestInput float64 `json:"longest_input"` // attention pads to it
	LabelTokens  float64 `json:"label_tokens"`
	LongestLabel float64 `json:"longest_label"`
}

// Cut is one of n parts.
func (b Batch) Cut(n int) Batch {
	by := 1 / float64(max(1, n))
	b.Examples, b.InputTokens, b.LabelTokens = b.Examples*by, b.InputTokens*by, b.LabelTokens*by
	return b
}

// Bucketed is the batch as a training step on a card has it (seq2seq.PrepareStep): filled up, such
// that few shapes come again and again. Rows are rounded up to a multiple of a power of two, at
// most a 16th of them and at least 8, which is half of that more on average; widths of attention
// likewise, a 32nd and at least 4. What is there for nothing belongs to sequences of padding.
func (b Batch) Bucketed() Batch {
	unit := func(n, part, least float64) float64 { return max(least, math.Exp2(math.Floor(math.Log2(n/part)))) }
	rows := func(n float64) float64 {
		if n <= 0 {
			return 0
		}
		return n + unit(n, 16, 8)/2
	}
	width := func(n float64) float64 {
		if n <= 1 {
			return n
		}
		return math.Ceil(n/unit(n, 32, 4)) * unit(n, 32, 4)
	}
	return Batch{Examples: b.Examples * 33 / 32, InputTokens: rows(b.InputTokens), LongestInput: width(b.LongestInput),
		LabelTokens: rows(b.LabelTokens), LongestLabel: width(b.LongestLabel)}
}

// Training is an update: forward, backward and the optimizer.
type Training struct {
	Model      Model
	Batch      Batch
	Precision  string // fp32, bf16, fp16
	Optimizer  string // adafactor, adamw
	Accumulate int    // parts that the batch is cut into
	Recompute  bool   // activations of the layers are computed twice instead of kept
	Graphs     bool   // batches are filled up; if not Recompute, what is launched is recorded for each shape of them, and replayed
}

// replayed reports whether graphs are.
func (t Training) replayed() bool { return t.Graphs && !t.Recompute }

// part is what of the batch is computed at a time.
func (t Training) part() Batch {
	b := t.Batch.Cut(t.Accumulate)
	if t.Graphs {
		return b.Bucketed()
	}
	return b
}

// Per element of what it is about, what operations that are not products read and write, in
// bytes of the compute type where it is half and in float32 where not: fitted to the counts
// of counts.json, which a test holds them to.
const (
	normBytes  = 110 // of a token's width, at each residual connection, forward and backward
	feedBytes  = 55  // of its feed-forward width
	scoreBytes = 90  // of an element of attention's scores
	lossBytes  = 55  // of a logit
	moveBytes  = 75  // of an element of queries, keys and values that attention pads and puts back
)

// Work is that of one update. What parts of a batch launch counts the optimizer's share with
// each, which is more than it is.
func (t Training) Work() Work {
	w := t.formula().calibrated(factor(OpTrain, t.Model, t.Precision, Counted.bytes, Counted.trainBytes))
	parts := float64(max(1, t.Accumulate))
	w.Launches = launchesOf(OpTrain, t.Model, t.Precision) * parts
	if t.Recompute {
		w.Launches *= 4.0 / 3
	}
	if t.replayed() {
		w.Graphed, w.Replays = w.Launches, 1
		if parts > 1 { // each part's, and the optimizer's
			w.Replays = parts + 1
		}
	}
	b := t.part()
	w.Up = 8 * parts * (b.InputTokens + 3*b.LabelTokens)
	w.Waits = 1.0 / readEvery
	return w
}

// formula is the products and the bytes of an update.
func (t Training) formula() Work {
	parts := max(1, t.Accumulate)
	w := t.pass(t.part()).Times(float64(parts))
	w.add(Update, 0, float64(t.Model.Parameters())*t.updateBytes())
	return w
}

// readEvery is after how many updates losses are read from the card.
const readEvery = 50

// element is the size of a number in a precision.
func element(precision string) float64 {
	if precision == "fp32" || precision == "" {
		return 4
	}
	return 2
}

// updateBytes is what an update reads and writes for each parameter: gradient and
// parameter, adafactor's squares and update, adamw's means, and the copy in half precision.
func (t Training) updateBytes() float64 {
	h := element(t.Precision)
	bytes := 5*h + 40.0 // adafactor
	if t.Optimizer == "adamw" {
		bytes = h + 24
	}
	if h < 4 {
		bytes += 4 + h
	}
	if t.Accumulate > 1 {
		bytes += 3 * h
	}
	return bytes
}

// pass is forward and backward, which is twice the forward products.
func (t Training) pass(b Batch) Work {
	m, h := t.Model, element(t.Precision)
	w := Work{Precision: t.Precision}
	blocks, head := 3.0, 3.0
	if t.Recompute {
		blocks = 4
	}
	in, out := b.InputTokens, b.LabelTokens
	width, inner, ff := float64(m.Width), float64(m.Inner), float64(m.FF)
	wide := 2.0
	if m.Gated {
		wide = 3
	}
	encoder, decoder := float64(m.Encoder), float64(m.Decoder)
	w.product(Products, in, width, inner, blocks*encoder*4, h)
	w.product(Products, in, width, ff, blocks*encoder*wide, h)
	w.product(Products, out, width, inner, blocks*decoder*6, h) // q, k, v, o; q and o of cross-attention
	w.product(Products, out, width, ff, blocks*decoder*wide, h)
	w.product(Products, in, width, inner, blocks*decoder*2, h) // k and v of cross-attention
	if m.Decoder > 0 {
		w.product(Head, out, width, float64(m.Vocabulary), head, h)
		w.add(Head, 0, out*float64(m.Vocabulary)*lossBytes*h/4)
	}
	t.attention(&w, blocks*encoder, b.Examples, b.LongestInput, b.LongestInput, inner)
	t.attention(&w, blocks*decoder, b.Examples, b.LongestLabel, b.LongestLabel, inner)
	t.attention(&w, blocks*decoder, b.Examples, b.LongestLabel, b.LongestInput, inner)
	passes := blocks / 3
	w.add(Pointwise, 0, passes*encoder*in*(2*width*normBytes+ff*feedBytes*h/4))
	w.add(Pointwise, 0, passes*decoder*out*(3*width*normBytes+ff*feedBytes*h/4))
	return w
}

// attention of n sequences, padded: queries of m rows look at l.
func (t Training) attention(w *Work, passes, n, m, l, inner float64) {
	h, heads := element(t.Precision), float64(t.Model.Heads)
	w.add(Attention, passes*4*n*m*l*inner, passes/3*(n*heads*m*l*scoreBytes*h/4+n*(m+l)*inner*moveBytes*h/4))
}
