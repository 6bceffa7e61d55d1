package roofline

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

// Training is an update: forward, backward and the optimizer.
type Training struct {
	Model      Model
	Batch      Batch
	Precision  string // fp32, bf16, fp16
	Optimizer  string // adafactor, adamw
	Accumulate int    // parts that the batch is cut into
	Recompute  bool   // activations of the layers are computed twice instead of kept
}

// Per element of what it is about, what operations that are no products read and write, in
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
	w.Launches = launchesOf(OpTrain, t.Model, t.Precision) * float64(max(1, t.Accumulate))
	if t.Recompute {
		w.Launches *= 4.0 / 3
	}
	w.Up = 8 * (t.Batch.InputTokens + 3*t.Batch.LabelTokens)
	w.Waits = 1.0 / readEvery
	return w
}

// formula is the products and the bytes of an update.
func (t Training) formula() Work {
	parts := max(1, t.Accumulate)
	w := t.pass(t.Batch.Cut(parts)).Times(float64(parts))
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
