package roofline

// Class is a sort of operations whose time is that of their arithmetic or of the memory
// that they move, whichever is longer.
type Class struct {
	Name  string  `json:"name"`
	Flops float64 `json:"flops"` // of matrix products; 2 for a multiplication and an addition
	Bytes float64 `json:"bytes"` // that operations read and write
}

// The classes.
const (
	Products  = "products"  // of activations and weights
	Attention = "attention" // scores, softmax, products with values
	Pointwise = "pointwise" // norms, dropout, residual connections, activations
	Head      = "head"      // the output matrix with what follows: loss, softmax, the best of a search
	Update    = "update"    // the optimizer
	Caches    = "caches"    // keys and values of a search
)

// Work is what is computed.
type Work struct {
	Launches  float64 `json:"launches"`
	Classes   []Class `json:"classes"`
	Up        float64 `json:"up"`    // bytes from the host
	Down      float64 `json:"down"`  // bytes to the host
	Waits     float64 `json:"waits"` // that the host does for the card
	Precision string  `json:"precision"`
}

// Flops is those of all classes.
func (w Work) Flops() (sum float64) {
	for _, c := range w.Classes {
		sum += c.Flops
	}
	return sum
}

// Bytes is those of all classes.
func (w Work) Bytes() (sum float64) {
	for _, c := range w.Classes {
		sum += c.Bytes
	}
	return sum
}

func (w *Work) add(name string, flops, bytes float64) {
	for i := range w.Classes {
		if c := &w.Classes[i]; c.Name == name {
			c.Flops, c.Bytes = c.Flops+flops, c.Bytes+bytes
			return
		}
	}
	w.Classes = append(w.Classes, Class{name, flops, bytes})
}

// product is rows times a matrix: n numbers in all its weights, from in to out columns.
func (w *Work) product(class string, rows, in, out, times, bytes float64) {
	w.add(class, times*2*rows*in*out, times*bytes*(rows*in+in*out+rows*out))
}

// Times is the work done n times.
func (w Work) Times(n float64) Work {
	out := w
	out.Launches, out.Up, out.Down, out.Waits = n*w.Launches, n*w.Up, n*w.Down, n*w.Waits
	out.Classes = make([]Class, len(w.Classes))
	for i, c := range w.Classes {
		out.Classes[i] = Class{c.Name, n * c.Flops, n * c.Bytes}
	}
	return out
}

// Plus is both, in the precision of w.
func (w Work) Plus(other Work) Work {
	out := w.Times(1)
	out.Launches, out.Up, out.Down, out.Waits = w.Launches+other.Launches, w.Up+other.Up, w.Down+other.Down, w.Waits+other.Waits
	for _, c := range other.Classes {
		out.add(c.Name, c.Flops, c.Bytes)
	}
	return out
}

// Assumptions are what a time depends on besides data sheets and counts.
type Assumptions struct {
	HalfEfficiency  float64 `json:"half_efficiency"`  // part of the sheet's products in half precision that is reached
	FloatEfficiency float64 `json:"float_efficiency"` // the same in float32
	Bandwidth       float64 `json:"bandwidth"`        // part of the sheet's bytes a second
	Gap             float64 `json:"gap_s"`            // seconds that each operation takes on the card besides
	Wait            float64 `json:"wait_s"`           // seconds that the host loses with each wait
}

// Assumed are the usual ones. None was measured for redsi: no card was at hand.
func Assumed() Assumptions {
	return Assumptions{HalfEfficiency: 0.4, FloatEfficiency: 0.7, Bandwidth: 0.7, Gap: 2e-6, Wait: 2e-5}
}

// Time is how long work takes on a card, in seconds.
type Time struct {
	Seconds float64
	Card    float64 // that the card computes
	Host    float64 // that the host prepares it
}

// On is the time that work takes: the card's or the host's, whichever is longer, since the
// host is ahead, and what they wait for one another.
func (w Work) On(c Card, a Assumptions) Time {
	peak := c.Float * a.FloatEfficiency
	if half := c.half(w.Precision) * a.HalfEfficiency; half > 0 {
		peak = half
	}
	var t Time
	for _, x := range w.Classes {
		t.Card += max(x.Flops/peak, x.Bytes/(c.Bandwidth*a.Bandwidth))
	}
	t.Card += w.Launches*a.Gap + w.Down/c.Bus
	t.Host = w.Launches*c.Launch + w.Up/c.Bus
	t.Seconds = max(t.Card, t.Host) + w.Waits*a.Wait
	return t
}
