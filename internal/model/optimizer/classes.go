package optimizer

import (
	"math"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/lists"
)

// most is how many elements the parameters of a class may have together, unless one parameter has more: it bounds the
// memory that an update takes beside them.
const most = 1 << 27

// classes are the parameters by shape, with the means of each class in one tensor; the state's means are views of it.
type classes struct {
	scope  *tensor.Scope
	order  []int // the parameters with elements, class by class
	params []*tensor.Tensor
	at     tensor.AdafactorAt
}

// class is the class of a parameter, with the parameter as its one member.
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
func (a *Adafactor) classify() *classes {
	c := &classes{scope: tensor.NewScope()}
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
	c.params = lists.Map(c.order, func(p int) *tensor.Tensor { return a.params[p].Tensor })
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
func (a *Adafactor) adopt(c *classes, from, of int64, params []int, place func(moments) int) (to int64) {
	to = from
	for _, p := range params {
		at := place(a.moments[p])
		old := a.at(at)
		n := old.Numel()
		view := a.scope.View(c.scope.Narrow(c.at.Means, 0, to, n), old.Shape()...)
		a.scope.CopyInPlace(view, old)
		tensor.Free(old)
		a.tensors[at].Tensor = view // in c's memory, until Read
		to += n
	}
	c.scope.FillInPlace(c.scope.Narrow(c.at.Inverse, 0, from, to-from), 1/math.Sqrt(float64(of)))
	return to
}
