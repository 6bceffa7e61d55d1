package adafactor

import (
	"io"
	"math"

	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/tensor"
)

// most is how many elements the parameters of a class may have together, so that what an update
// takes beside them is bounded: 2²⁷ or those of the largest parameter.
const most = 1 << 27

// classes are the parameters by shape, and their means in one tensor each; what State has of
// them are views.
type classes struct {
	scope  *tensor.Scope
	order  []int // the parameters, class by class, without those that have no elements
	params []*tensor.Tensor
	at     tensor.AdafactorAt
}

// StepOn is Step without waiting for the device, where rate is, float32 [1]: every parameter is
// updated with its gradient, of any float type, divided by what scaler says, and nothing changes
// where scaler found an update bad, which does not count either. Scaler, which has checked these
// gradients, may be nil.
// It takes few operations, whatever the number of parameters; copies of up to 2²⁷ elements of
// gradients, and 4 bytes for each of up to 2²⁷ elements, or of the largest parameter's.
//
// A call that was recorded may be replayed, until the optimizer's next Step or Read: all that changes
// from update to update are the values of tensors. The first call after New, Step or Read arranges the
// state, and is not one to record.
func (a *Optimizer) StepOn(grads []*tensor.Tensor, rate *tensor.Tensor, scaler *amp.Scaler) {
	if len(grads) != len(a.params) {
		tensor.Failf("Adafactor", "%d gradients for %d parameters", len(grads), len(a.params))
	}
	if len(a.params) == 0 {
		return
	}
	if a.classes == nil {
		a.classes = a.classify()
	}
	c := a.classes
	ordered := make([]*tensor.Tensor, len(c.order))
	for i, p := range c.order {
		ordered[i] = grads[p]
	}
	var found, divisor *tensor.Tensor
	if scaler != nil {
		found, divisor = scaler.Found(), scaler.Divisor()
	}
	c.at.Steps = a.NextOn(a.params[0].Tensor.Device(), found)
	if len(ordered) == 0 {
		return
	}
	a.Scope.AdafactorAllInPlace(c.params, ordered, c.at, rate, found, divisor, tensor.AdafactorOptions{
		Eps1: a.options.Eps1, Eps2: a.options.Eps2,
		Clip: a.options.ClipThreshold, WeightDecay: a.options.WeightDecay, ScaleParameter: a.options.ScaleParameter,
	})
}

// Read restores what Write wrote of an optimizer of the same parameters; see checkpoint.State.
func (a *Optimizer) Read(r io.ReaderAt, size int64) error {
	if err := a.State.Read(r, size); err != nil {
		return err
	}
	a.release()
	return nil
}

// Close frees the state.
func (a *Optimizer) Close() {
	a.release()
	a.State.Close()
}

func (a *Optimizer) release() {
	if a.classes != nil {
		a.classes.scope.Close()
		a.classes = nil
	}
}

// class is that of a parameter, with itself as its one member.
func class(shape []int64) tensor.AdafactorClass {
	switch len(shape) {
	case 0:
		return tensor.AdafactorClass{Members: 1, Rows: 1}
	case 1:
		return tensor.AdafactorClass{Members: 1, Rows: shape[0]}
	}
	return tensor.AdafactorClass{Members: 1, Rows: shape[0], Columns: shape[1]}
}

// classify puts the means of each class into one tensor, without changing them.
func (a *Optimizer) classify() *classes {
	c := &classes{scope: tensor.NewScope(), at: tensor.AdafactorAt{Power: a.options.DecayRate}}
	members := map[tensor.AdafactorClass][]int{}
	var kinds []tensor.AdafactorClass
	for i, p := range a.params {
		if p.Tensor.Numel() == 0 {
			continue
		}
		kind := class(p.Tensor.Shape())
		if members[kind] == nil {
			kinds = append(kinds, kind)
		}
		members[kind] = append(members[kind], i)
	}
	means := int64(0)
	for _, kind := range kinds {
		all := members[kind]
		atOnce := max(1, most/int(kind.Rows*max(kind.Columns, 1)))
		for len(all) > 0 {
			n := min(len(all), atOnce)
			kind.Members = int64(n)
			c.at.Classes = append(c.at.Classes, kind)
			c.order = append(c.order, all[:n]...)
			means += kind.Means()
			all = all[n:]
		}
	}
	for _, p := range c.order {
		c.params = append(c.params, a.params[p].Tensor)
	}
	device := a.params[0].Tensor.Device()
	c.at.Means, c.at.Inverse = c.scope.Empty(tensor.F32, device, means), c.scope.Empty(tensor.F32, device, means)
	from, next := int64(0), c.order
	for _, kind := range c.at.Classes {
		own := next[:kind.Members]
		next = next[kind.Members:]
		if kind.Columns == 0 {
			from = a.adopt(c, from, 1, own, func(m moments) int { return m.full })
			continue
		}
		from = a.adopt(c, from, kind.Columns, own, func(m moments) int { return m.row })
		from = a.adopt(c, from, kind.Rows, own, func(m moments) int { return m.col })
	}
	return c
}

// adopt moves the means of some parameters, one of each, behind each other, from a place on; each
// is of the squares of so many numbers.
func (a *Optimizer) adopt(c *classes, from, of int64, params []int, place func(moments) int) (to int64) {
	to = from
	for _, p := range params {
		at := place(a.moments[p])
		old := a.At(at)
		n := old.Numel()
		view := a.Scope.View(c.scope.Narrow(c.at.Means, 0, to, n), old.Shape()...)
		a.Scope.CopyInPlace(view, old)
		a.Replace(at, view)
		to += n
	}
	c.scope.FillInPlace(c.scope.Narrow(c.at.Inverse, 0, from, to-from), 1/math.Sqrt(float64(of)))
	return to
}
