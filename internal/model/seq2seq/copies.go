package seq2seq

import (
	"github.com/redsi/redsi/internal/model/int8s"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/lists"
)

// copies are a model's matrices as a card, or a CPU in half precision, multiplies by them, and biases as it adds them:
// in the compute type. Matrices of one product lie one below the other in one matrix, of which gradients are taken.
// Where the compute type is the parameters' own, the parameters lie in these matrices and nothing is stored twice.
type copies struct {
	compute  tensor.DType
	scope    *tensor.Scope
	net      Network
	matrices []*matrix
	part     map[*tensor.Tensor]place // of each matrix that net has
	of       map[string]place         // by name
	to, from []*tensor.Tensor         // matrices that are copied, and their sources
	stale    bool
}

// matrix is the matrix of a product, or its bias.
type matrix struct {
	t     *tensor.Tensor // [sum of rows, columns], or [sum of rows]
	rows  []int64
	parts []*tensor.Tensor
}

// place is a part of a matrix.
type place struct {
	*matrix
	at int
}

func (p place) first() (row int64) {
	for _, n := range p.rows[:p.at] {
		row += n
	}
	return row
}

// newCopies lays out a model's matrices, without their numbers.
func newCopies(m *Model) *copies {
	c := &copies{compute: m.Compute, scope: tensor.NewScope(), part: map[*tensor.Tensor]place{}, of: map[string]place{}, stale: true}
	groups := map[string][]Param{}
	var order []string
	for i, s := range Specs(m.Config) {
		if s.Product == "" {
			continue
		}
		if groups[s.Product] == nil {
			order = append(order, s.Product)
		}
		groups[s.Product] = append(groups[s.Product], m.all[i])
	}
	tensor.NoGrad(func() {
		for _, name := range order {
			c.join(m, groups[name])
		}
	})
	c.net = m.Config.Build(func(s Spec) *tensor.Tensor {
		if at, ok := c.of[s.Name]; ok {
			return at.parts[at.at]
		}
		return m.Param(s.Name)
	})
	return c
}

// join makes the matrix of a product.
func (c *copies) join(m *Model, of []Param) {
	same := c.compute == tensor.F32
	w := &matrix{}
	total := int64(0)
	for _, p := range of {
		w.rows = append(w.rows, p.Tensor.Dim(0))
		total += p.Tensor.Dim(0)
	}
	if w.t = of[0].Tensor; !same || len(of) > 1 {
		w.t = c.scope.Empty(c.compute, m.Device, append([]int64{total}, of[0].Tensor.Shape()[1:]...)...)
	}
	c.matrices = append(c.matrices, w)
	for i, p := range of {
		at := place{w, i}
		part := w.t
		if len(of) > 1 {
			part = c.scope.Narrow(w.t, 0, at.first(), w.rows[i])
		}
		switch {
		case same && len(of) > 1:
			c.scope.CopyInPlace(part, p.Tensor)
			tensor.Place(p.Tensor, part)
		case !same:
			c.to, c.from = append(c.to, part), append(c.from, p.Tensor)
		}
		w.parts = append(w.parts, part)
		c.part[part], c.of[p.Name] = at, at
	}
	if !w.t.RequiresGrad() {
		c.scope.Leaf(w.t)
	}
}

func (c *copies) refresh() {
	tensor.NoGrad(func() { c.scope.CopyAll(c.to, c.from) })
	c.stale = false
}

// within reports whether w is a part of a larger matrix.
func (c *copies) within(w *tensor.Tensor) bool {
	at, ok := c.part[w]
	return ok && len(at.parts) > 1
}

// leaves are what gradients are asked for in the parameters' stead, each once.
func (c *copies) leaves(params []Param) (all []*tensor.Tensor) {
	all = lists.Map(c.matrices, func(w *matrix) *tensor.Tensor { return w.t })
	for _, p := range params {
		if _, ok := c.of[p.Name]; !ok {
			all = append(all, p.Tensor)
		}
	}
	return all
}

// Changed says that parameters were written to: copies of matrices are refreshed before their next use.
func (m *Model) Changed() {
	if m.int8 != nil {
		m.int8 = new(int8s.Matrices)
	}
	if m.copies != nil {
		m.copies.stale = true
	}
}

// Refresh refreshes the copies of matrices, whether parameters have changed or not. In float32 a CPU has none. It must
// be called within tensor.Run or tensor.Try.
func (m *Model) Refresh() {
	if c := m.copied(); c != nil {
		c.refresh()
	}
}

// copied are the model's copies, as they are; nil on a CPU in float32.
func (m *Model) copied() *copies {
	if !m.Device.IsCUDA() && m.Compute == tensor.F32 {
		return nil
	}
	if m.copies != nil && m.copies.compute != m.Compute {
		m.forget()
	}
	if m.copies == nil {
		m.copies = newCopies(m)
	}
	return m.copies
}

// upToDate returns the model's copies, refreshed where parameters have changed.
func (m *Model) upToDate() *copies {
	m.making.Lock()
	defer m.making.Unlock()
	c := m.copied()
	if c != nil && c.stale {
		c.refresh()
	}
	return c
}

// reading is a pass without dropout, and the network that it computes by.
func (m *Model) reading(s *tensor.Scope) (*Pass, Network) {
	p := m.pass(s, nil)
	p.int8 = m.int8
	if p.copies = m.upToDate(); p.copies != nil {
		return p, p.copies.net
	}
	return p, m.net
}

// forget frees the copies; parameters that lie in them keep their memory.
func (m *Model) forget() {
	if m.copies != nil {
		m.copies.scope.Close()
		m.copies = nil
	}
}
