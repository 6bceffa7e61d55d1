package tensor

import lib "github.com/sugarme/gotch/libtch"

const asIs = -1 // keep the operand's element type

// MatMul is PyTorch's matmul: [..., m, k] x [..., k, n] -> [..., m, n].
func (s *Scope) MatMul(a, b *Tensor) *Tensor { return s.binary("MatMul", lib.AtgMatmul, a, b) }

// AddMatMul is c·scaleC + (a·b)·scale for batches: [B, m, k] x [B, k, n], c of a
// shape that broadcasts to [B, m, n].
func (s *Scope) AddMatMul(c, a, b *Tensor, scaleC, scale float64) *Tensor {
	var out lib.Ctensor
	beta, alpha := lib.AtsFloat(scaleC), lib.AtsFloat(scale)
	lib.AtgBaddbmm(&out, c.use("AddMatMul"), a.use("AddMatMul"), b.use("AddMatMul"), beta, alpha)
	lib.AtsFree(beta)
	lib.AtsFree(alpha)
	return s.own("AddMatMul", out, c, a, b)
}

// Softmax over dim; F16 and BF16 accumulate in float32.
func (s *Scope) Softmax(t *Tensor, dim int64) *Tensor {
	return s.unary("Softmax", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgSoftmax(out, c, dim, asIs) }, t)
}

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

// Mean of all elements, a scalar.
func (s *Scope) Mean(t *Tensor) *Tensor {
	return s.unary("Mean", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgMean(out, c, asIs) }, t)
}

// MeanDim over one dimension.
func (s *Scope) MeanDim(t *Tensor, dim int64, keep bool) *Tensor {
	return s.unary("MeanDim", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgMeanDim(out, c, []int64{dim}, 1, flag(keep), asIs) }, t)
}

// MaxDim is the largest over one dimension.
func (s *Scope) MaxDim(t *Tensor, dim int64, keep bool) *Tensor {
	return s.unary("MaxDim", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgAmax(out, c, []int64{dim}, 1, flag(keep)) }, t)
}

// TopK is the k largest values along dim, largest first, and their indices (I64).
func (s *Scope) TopK(t *Tensor, k, dim int64) (values, indices *Tensor) {
	var out [2]lib.Ctensor
	lib.AtgTopk(&out[0], t.use("TopK"), k, dim, 1, 1)
	values = s.own("TopK", out[0], t)
	return values, s.own("TopK", out[1], t)
}

// Argmax is the index (I64) of the largest value along dim.
func (s *Scope) Argmax(t *Tensor, dim int64) *Tensor {
	return s.unary("Argmax", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgArgmax(out, c, dim, 0, 0) }, t)
}

// LogSumExp over one dimension.
func (s *Scope) LogSumExp(t *Tensor, dim int64, keep bool) *Tensor {
	return s.unary("LogSumExp", func(out *lib.Ctensor, c lib.Ctensor) { lib.AtgLogsumexp(out, c, []int64{dim}, 1, flag(keep)) }, t)
}

// LayerNorm normalises the last dimension to mean 0 and variance 1, times w plus b.
func (s *Scope) LayerNorm(x, w, b *Tensor, eps float64) *Tensor {
	var out lib.Ctensor
	shape := w.Shape()
	lib.AtgLayerNorm(&out, x.use("LayerNorm"), shape, len(shape), w.use("LayerNorm"), b.use("LayerNorm"), eps, 0)
	return s.own("LayerNorm", out, x, w, b)
}

// Attention is softmax(q·kᵀ·scale + mask)·v by libtorch's fused kernel, without
// dropout: q [B, h, m, d], k and v [B, h, n, d], mask nil or of a shape that
// broadcasts to [B, h, m, n].
func (s *Scope) Attention(q, k, v, mask *Tensor, scale float64) *Tensor {
	var out, m lib.Ctensor
	if mask != nil {
		m = mask.use("Attention")
	}
	lib.AtgScaledDotProductAttention(&out, q.use("Attention"), k.use("Attention"), v.use("Attention"), m, 0, 0, scale, 0)
	return s.own("Attention", out, q, k, v, mask)
}

// CrossEntropy is the mean of -log softmax(logits)[label] over rows whose label is
// not ignore: logits [n, V], labels I64 [n]; smooth of each label's weight is spread
// evenly over all V.
func (s *Scope) CrossEntropy(logits, labels *Tensor, ignore int64, smooth float64) *Tensor {
	var out lib.Ctensor
	const mean = 1
	lib.AtgCrossEntropyLoss(&out, logits.use("CrossEntropy"), labels.use("CrossEntropy"), nil, mean, ignore, smooth)
	return s.own("CrossEntropy", out, logits, labels)
}

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
