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
	Launches  float64 `json:"launches"` // operations on the card
	Graphed   float64 `json:"graphed"`  // of them, those in graphs where an update is replayed
	Replays   float64 `json:"replays"`  // of graphs then
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
	out.Launches, out.Graphed, out.Replays = n*w.Launches, n*w.Graphed, n*w.Replays
	out.Up, out.Down, out.Waits = n*w.Up, n*w.Down, n*w.Waits
	out.Classes = make([]Class, len(w.Classes))
	for i, c := range w.Classes {
		out.Classes[i] = Class{c.Name, n * c.Flops, n * c.Bytes}
	}
	return out
}

// Plus is both, in the precision of w.
func (w Work) Plus(other Work) Work {
	out := w.Times(1)
	out.Launches, out.Graphed, out.Replays = w.Launches+other.Launches, w.Graphed+other.Graphed, w.Replays+other.Replays
	out.Up, out.Down, out.Waits = w.Up+other.Up, w.Down+other.Down, w.Waits+other.Waits
	for _, c := range other.Classes {
		out.add(c.Name, c.Flops, c.Bytes)
	}
	return out
}
