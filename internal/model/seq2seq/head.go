package seq2seq

import "github.com/redsi/redsi/internal/model/tensor"

// Head is what makes scores of a decoder's states [T, w]: their product with Matrix, plus Bias.
type Head struct {
	Matrix *tensor.Tensor // [Size, w]
	Bias   *tensor.Tensor // [Size]; nil: nothing is added. A CPU has none
}

// in is the head in a type.
func (h Head) in(s *tensor.Scope, d tensor.DType) Head {
	h.Matrix = s.ToDType(h.Matrix, d)
	if h.Bias != nil {
		h.Bias = s.ToDType(h.Bias, d)
	}
	return h
}

// rows is the head of tokens from … from+n-1.
func (h Head) rows(s *tensor.Scope, from, n int64) Head {
	h.Matrix = s.Narrow(h.Matrix, 0, from, n)
	if h.Bias != nil {
		h.Bias = s.Narrow(h.Bias, 0, from, n)
	}
	return h
}

// scores are those after states, in the head's type: [T, Size].
func (h Head) scores(s *tensor.Scope, states *tensor.Tensor) *tensor.Tensor {
	states = s.ToDType(states, h.Matrix.DType())
	if h.Bias == nil {
		return s.Linear(states, h.Matrix)
	}
	return s.LinearBias(states, h.Matrix, h.Bias)
}
