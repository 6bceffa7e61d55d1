package tensor

import lib "github.com/sugarme/gotch/libtch"

const asIs = -1 // keep the operand's element type

// MatMul is PyTorch's matmul: [..., m, k] x [..., k, n] -> [..., m, n].
func (s *Scope) MatMul(a, b *Tensor) *Tensor { return s.binary("MatMul", lib.AtgMatmul, a, b) }

// LogSoftmax over dim, computed and returned as d.
func (s *Scope) LogSoftmax(t *Tensor, dim int64, d DType) *Tensor {
	return s.unary("LogSoftmax", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgLogSoftmax(out, c, dim, int32(d)) }, t)
}

// Sum of all elements, a scalar.
func (s *Scope) Sum(t *Tensor) *Tensor {
	return s.unary("Sum", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgSum(out, c, asIs) }, t)
}

// SumDim over one dimension.
func (s *Scope) SumDim(t *Tensor, dim int64, keep bool) *Tensor {
	return s.unary("SumDim", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgSumDimIntlist(out, c, []int64{dim}, 1, flag(keep), asIs) }, t)
}

// MeanDim over one dimension.
func (s *Scope) MeanDim(t *Tensor, dim int64, keep bool) *Tensor {
	return s.unary("MeanDim", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgMeanDim(out, c, []int64{dim}, 1, flag(keep), asIs) }, t)
}

// MaxDim is the largest over one dimension.
func (s *Scope) MaxDim(t *Tensor, dim int64, keep bool) *Tensor {
	return s.unary("MaxDim", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgAmax(out, c, []int64{dim}, 1, flag(keep)) }, t)
}

// LayerNorm normalises the last dimension to mean 0 and variance 1, times w plus b.
func (s *Scope) LayerNorm(x, w, b *Tensor, eps float64) *Tensor {
	var out lib.Ctensor
	shape := w.Shape()
	lib.AtgLayerNorm(&out, x.use("LayerNorm"), shape, len(shape), w.use("LayerNorm"), b.use("LayerNorm"), eps, 0)
	return s.own("LayerNorm", out, x, w, b)
}
