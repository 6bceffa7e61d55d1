package seq2seq

import (
	"github.com/redsi/redsi/internal/model/int8s"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/lists"
)

// Dense is a matrix [out, in] and a bias [out], or nil.
type Dense = int8s.Dense

// Linear is x·wᵀ in the compute type.
func (p *Pass) Linear(x, w *tensor.Tensor) *tensor.Tensor {
	if p.copies != nil && p.copies.within(w) {
		tensor.Failf("model", "a product with only %s, which is a part of a matrix", w)
	}
	return p.linear(x, w, nil)
}

// Affine is x·wᵀ + b in the compute type: on a card one operation. Without b it is Linear.
func (p *Pass) Affine(x *tensor.Tensor, d Dense) *tensor.Tensor {
	if d.B == nil {
		return p.Linear(x, d.W)
	}
	if p.copies != nil && !p.copies.within(d.W) {
		return p.linear(x, d.W, d.B)
	}
	h := p.Linear(x, d.W)
	return p.S.Add(h, p.S.ToDType(d.B, h.DType()))
}

// Wide is Linear where the result is added to float32: of F16 it is float32 too, since products such as T5's
// feed-forward layers' reach numbers that F16 does not have.
func (p *Pass) Wide(x, w *tensor.Tensor) *tensor.Tensor {
	if p.compute != tensor.F16 {
		return p.Linear(x, w)
	}
	return p.S.LinearWide(p.S.ToDType(x, p.compute), p.S.ToDType(w, p.compute))
}

func (p *Pass) linear(x, w, b *tensor.Tensor) *tensor.Tensor {
	if p.int8 != nil {
		return p.int8.Products(p.S, x, Dense{W: w, B: b})[0]
	}
	if p.packed != nil {
		if b != nil {
			b = p.S.ToDType(b, tensor.F32)
		}
		packed, n := p.packed.of(w)
		return p.S.LinearPacked(x, packed, n, b)
	}
	if p.compute != tensor.F32 {
		x, w = p.S.ToDType(x, p.compute), p.S.ToDType(w, p.compute)
	}
	if b == nil {
		return p.S.Linear(x, w)
	}
	return p.S.LinearBias(x, w, p.S.ToDType(b, p.compute))
}

// Products are Linear of each of the matrices, by one product where copies have them in one.
func (p *Pass) Products(x *tensor.Tensor, ws ...*tensor.Tensor) []*tensor.Tensor {
	if p.packed != nil && p.copies == nil {
		packed, n := p.packed.of(ws...)
		rows := lists.Map(ws, func(w *tensor.Tensor) int64 { return w.Dim(0) })
		return p.S.Split(p.S.LinearPacked(x, packed, n, nil), -1, rows...)
	}
	return p.Affines(x, lists.Map(ws, func(w *tensor.Tensor) Dense { return Dense{W: w} })...)
}

// Affines are Affine by each, by one product where copies have them in one.
func (p *Pass) Affines(x *tensor.Tensor, of ...Dense) []*tensor.Tensor {
	if p.int8 != nil {
		return p.int8.Products(p.S, x, of...)
	}
	if p.copies != nil && p.copies.within(of[0].W) {
		return p.product(x, of)
	}
	return lists.Map(of, func(d Dense) *tensor.Tensor { return p.Affine(x, d) })
}

// product names the product of x with a matrix.
type product struct{ x, w *tensor.Tensor }

// product is the products of x with parts of one matrix, all of whose parts are multiplied.
func (p *Pass) product(x *tensor.Tensor, of []Dense) []*tensor.Tensor {
	first := p.copies.part[of[0].W]
	w, bias := first.matrix, (*matrix)(nil)
	var b *tensor.Tensor
	if of[0].B != nil {
		bias = p.copies.part[of[0].B].matrix
		if bias == nil || len(bias.parts) != len(w.parts) {
			tensor.Failf("model", "biases that are not together as their matrices are")
		}
		b = bias.t
	}
	key := product{x, w.t}
	all := p.products[key]
	if all == nil {
		all = p.S.Split(p.linear(x, w.t, b), -1, w.rows...)
	}
	if len(of) < len(w.parts) { // the others are needed too
		if p.products == nil {
			p.products = map[product][]*tensor.Tensor{}
		}
		p.products[key] = all
	}
	out := make([]*tensor.Tensor, len(of))
	for i, d := range of {
		at, ok := p.copies.part[d.W]
		if !ok || at.matrix != w {
			tensor.Failf("model", "matrices of several products at once")
		}
		if bias != nil && bias.parts[at.at] != d.B {
			tensor.Failf("model", "a bias that is another matrix's")
		}
		out[i] = all[at.at]
	}
	return out
}
