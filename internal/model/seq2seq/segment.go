package seq2seq

import (
	"slices"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/lists"
)

// tape lists the segments of a forward pass that does not keep what its segments compute: the backward pass recomputes
// each from its beginning.
type tape struct {
	segments []*segment
	now      *segment // the segment that is being computed
}

// segment is a piece of a forward pass, from one tensor to one.
type segment struct {
	in, out *tensor.Tensor
	f       func(x *tensor.Tensor) *tensor.Tensor
	random  uint64           // numbers that were drawn before it
	state   *tensor.Tensor   // where a card's were, on a card
	outside []*tensor.Tensor // what else it reads that was computed, each once
	leaves  map[*tensor.Tensor]*tensor.Tensor
}

// Segment is f(x), a piece of a model that Model.Checkpoint recomputes in the backward pass. What f reads beside x and
// parameters comes by Outside. It ends with no more tensors in memory than gradients need, which may not include x:
// callers must not use x afterwards.
func (p *Pass) Segment(x *tensor.Tensor, f func(x *tensor.Tensor) *tensor.Tensor) (y *tensor.Tensor) {
	if !p.learns {
		return f(x)
	}
	if p.tape == nil {
		p.within(func(outer *tensor.Scope) { y = outer.Move(f(x)) })
		if !slices.Contains(p.given, x) {
			tensor.Free(x)
		}
		return y
	}
	g := &segment{in: x, f: f}
	if p.rng != nil {
		g.random, g.state = p.rng.Counter, p.S.RandomState(p.Device)
	}
	p.tape.now = g
	tensor.NoGrad(func() {
		p.within(func(outer *tensor.Scope) { y = outer.Move(f(x)) })
	})
	p.tape.now = nil
	p.S.Leaf(y)
	g.out = y
	p.tape.segments = append(p.tape.segments, g)
	return y
}

func (p *Pass) within(f func(outer *tensor.Scope)) {
	outer := p.S
	tensor.Within(func(inner *tensor.Scope) {
		p.S = inner
		f(outer)
	})
	p.S = outer
}

// Outside is t, nil or computed before a segment, for use in it.
func (p *Pass) Outside(t *tensor.Tensor) *tensor.Tensor {
	if t == nil || p.tape == nil || p.tape.now == nil || !t.RequiresGrad() {
		return t
	}
	g := p.tape.now
	if g.leaves != nil { // it is being recomputed
		leaf := g.leaves[t]
		if leaf == nil {
			tensor.Failf("model", "a segment reads %s the second time only", t)
		}
		return leaf
	}
	if !slices.Contains(g.outside, t) {
		g.outside = append(g.outside, t)
	}
	return t
}

// backward is the gradients of loss with respect to the leaves, as Scope.Gradients of a
// pass without a tape gives them: sums are taken in the same order.
func (p *Pass) backward(loss *tensor.Tensor, leaves []*tensor.Tensor) []*tensor.Tensor {
	b := &backward{Pass: p, leaves: leaves, have: map[*tensor.Tensor]*tensor.Tensor{}}
	for _, g := range p.tape.segments {
		b.ends = append(b.ends, g.out)
	}
	tensor.NoGrad(func() {
		b.roots, b.have[loss] = []*tensor.Tensor{loss}, p.S.Full(1, loss.DType(), p.Device, loss.Shape()...)
	})
	for i := len(p.tape.segments) - 1; i >= 0; i-- {
		g := p.tape.segments[i]
		if b.have[g.out] == nil {
			b.flush()
		}
		b.recompute(g)
		b.ends = b.ends[:i]
	}
	b.flush()
	return lists.Map(leaves, func(t *tensor.Tensor) *tensor.Tensor { return b.have[t] })
}

// backward is a backward pass along a tape.
type backward struct {
	*Pass
	leaves []*tensor.Tensor                  // what is asked for
	ends   []*tensor.Tensor                  // of segments whose turn has not come
	have   map[*tensor.Tensor]*tensor.Tensor // gradients so far
	roots  []*tensor.Tensor                  // computed between segments, whose gradients continue from them
}

// flush goes back through what was computed between segments.
func (b *backward) flush() {
	if len(b.roots) == 0 {
		return
	}
	grads := lists.Map(b.roots, func(t *tensor.Tensor) *tensor.Tensor {
		defer delete(b.have, t)
		return b.have[t]
	})
	to := slices.Concat(b.leaves, b.ends)
	for i, g := range b.S.Backward(b.roots, grads, to) {
		b.add(b.S, to[i], g)
	}
	tensor.Free(grads...)
	b.roots = nil
}

// recompute recomputes a segment with what its gradients need, and goes back through it.
func (b *backward) recompute(g *segment) {
	if b.rng != nil {
		now, state := b.rng.Counter, b.S.RandomState(b.Device)
		b.rng.Counter = g.random
		tensor.SetRandomState(b.Device, g.state)
		defer func() {
			b.rng.Counter = now
			tensor.SetRandomState(b.Device, state)
			tensor.Free(state)
		}()
	}
	b.within(func(outer *tensor.Scope) {
		to := append([]*tensor.Tensor{g.in}, g.outside...)
		var from []*tensor.Tensor
		g.leaves = map[*tensor.Tensor]*tensor.Tensor{}
		for _, t := range to {
			leaf := b.S.Detach(t)
			b.S.Leaf(leaf)
			g.leaves[t], from = leaf, append(from, leaf)
		}
		b.tape.now = g
		y := g.f(from[0])
		b.tape.now, g.leaves = nil, nil
		to, from = append(to, b.leaves...), append(from, b.leaves...)
		for i, d := range b.S.Backward([]*tensor.Tensor{y}, []*tensor.Tensor{b.have[g.out]}, from) {
			if d != nil && i <= len(g.outside) && !b.needsNoFlush(to[i]) {
				b.roots = append(b.roots, to[i])
			}
			b.add(outer, to[i], d)
		}
	})
	tensor.Free(b.have[g.out])
	delete(b.have, g.out)
}

// needsNoFlush reports whether a gradient of t is used without a flush, or t is a root of the next flush already.
func (b *backward) needsNoFlush(t *tensor.Tensor) bool {
	return slices.Contains(b.ends, t) || slices.Contains(b.leaves, t) || slices.Contains(b.roots, t)
}

// add adds d, nil or the gradient of t, to what there is of it, as a tensor of scope s.
func (b *backward) add(s *tensor.Scope, t, d *tensor.Tensor) {
	if d == nil {
		return
	}
	if old := b.have[t]; old != nil {
		tensor.NoGrad(func() { d = b.S.Add(old, d) })
		tensor.Free(old)
	}
	b.have[t] = s.Move(d)
}
