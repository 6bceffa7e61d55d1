package roofline

import "math"

// Formulas know sizes, not how many times an implementation reads and writes what it
// computes with. Where they are multiplied with a factor, that is what was counted of the
// paper's model that is nearest in size, over what the formula says of that one: the counts
// of models that were counted are so given back, and others are thought alike.

// calibrated multiplies the bytes.
func (w Work) calibrated(by float64) Work {
	out := w.Times(1)
	for i := range out.Classes {
		out.Classes[i].Bytes *= by
	}
	return out
}

// factor is what was counted over what a formula says, of the nearest model.
func factor(operation string, m Model, precision string, counted, formula func(Counted) float64) float64 {
	sum, by := 0.0, 0.0
	for _, c := range nearest(operation, m, precision) {
		sum, by = sum+counted(c), by+formula(c)
	}
	if sum <= 0 || by <= 0 {
		return 1
	}
	return sum / by
}

// nearest are the counts of an operation of the model whose layers have the most similar
// number of parameters, in a precision of the same size if there are such.
func nearest(operation string, m Model, precision string) (found []Counted) {
	best := math.Inf(1)
	for _, c := range counts() {
		if c.Operation != operation || c.Recompute {
			continue
		}
		far := math.Abs(math.Log(float64(c.Model.blocks()) / float64(m.blocks())))
		if element(c.Precision) != element(precision) {
			far += 100
		}
		switch {
		case far < best-1e-9:
			best, found = far, []Counted{c}
		case far < best+1e-9:
			found = append(found, c)
		}
	}
	return found
}

// bytes that were counted.
func (c Counted) bytes() float64 { return float64(c.Bytes) }

// training is what was counted, as a Training.
func (c Counted) training() Training {
	return Training{Model: c.Model, Batch: c.Batch, Precision: c.Precision, Optimizer: c.Optimizer, Recompute: c.Recompute, Graphs: true}
}

func (c Counted) searching() Searching {
	return Searching{Model: c.Model, Batch: c.Batch, Beams: float64(c.Beams), Precision: c.Precision}
}

// What formulas say of what was counted. A token of a search was counted as the third and
// fourth of four.
func (c Counted) trainBytes() float64 { return c.training().formula().Bytes() }
func (c Counted) searchBytes() float64 {
	return c.searching().token(c.Batch.Examples*float64(c.Beams), 2.5).Bytes()
}
func (c Counted) rankBytes() float64 {
	s := c.searching()
	s.Model.Vocabulary -= 32128 // those of documents
	w := Work{Precision: c.Precision}
	s.encode(&w)
	return w.Bytes() + s.token(c.Batch.Examples, 0).Bytes()
}
func (c Counted) embedBytes() float64 {
	return Embedding{Model: c.Model, Batch: c.Batch}.formula().Bytes()
}

// What lives at the peak besides weights, their copies and what the optimizer remembers.
func (c Counted) peak() float64 { return float64(c.Peak) }
func (c Counted) livePeak() float64 {
	m := c.training().plain()
	return float64(m.Gradients + m.Activations + m.Scratch)
}
