package tensor

import lib "github.com/sugarme/gotch/libtch"

// Operations that only tests compare with.

// Equal is a == b, Bool.
func (s *Scope) Equal(a, b *Tensor) *Tensor { return s.binary("Equal", lib.AtgEqTensor, a, b) }

// CrossEntropy is the mean of -log softmax(logits)[label] over rows whose label is
// not ignore: logits [n, V], labels I64 [n]; smooth of each label's weight is spread
// evenly over all V.
func (s *Scope) CrossEntropy(logits, labels *Tensor, ignore int64, smooth float64) *Tensor {
	var out lib.Ctensor
	const mean = 1
	lib.AtgCrossEntropyLoss(&out, logits.use("CrossEntropy"), labels.use("CrossEntropy"), nil, mean, ignore, smooth)
	return s.own("CrossEntropy", out, logits, labels)
}

// IndexAddInPlace adds row i of src to row index[i] of t, along dim.
func (s *Scope) IndexAddInPlace(t *Tensor, dim int64, index, src *Tensor) {
	var out lib.Ctensor
	lib.AtgIndexAdd_(&out, t.use("IndexAddInPlace"), dim, index.use("IndexAddInPlace"), src.use("IndexAddInPlace"))
	s.inPlace("IndexAddInPlace", out, t, index, src)
}
