package decode

import (
	"errors"
	"math"

	"github.com/redsi/redsi/internal/model/tensor"
)

// moreThanTopK is how many tokens are looked at beyond top_k: so many can be as probable
// as its last one, and kept with it, before a second look is needed.
const moreThanTopK = 32

// Draw implements drawing as choices, filter and draw do on a CPU. Without top_k all scores are sorted, so that one
// look is enough whatever top_p leaves.
func (c *cardStep) Draw(o *Sampling, rows []int32, u []float64) (out []Candidate, err error) {
	vocab := int(c.searcher.count)
	n := vocab
	if o.TopK > 0 {
		n = min(o.TopK+moreThanTopK, vocab)
	}
	numbers, of := make([]int64, len(u)), make([]int64, len(rows))
	for i := range u {
		numbers[i], of[i] = int64(math.Float64bits(u[i])), int64(rows[i])
	}
	for more := true; more && err == nil; n = min(4*n, vocab) {
		e := c.make(func(s *tensor.Scope, on []*tensor.Tensor) {
			d := cardDraws{s: s, o: o, rows: on[1], u: s.Bits(on[0], tensor.F64)}
			d.cardFound = cardBest{s, int(c.scores.Dim(0)), n}.of(c.scores, s.Zeros(tensor.F32, c.searcher.m.Device, c.scores.Dim(0)))
			out, more, err = d.read(d.choose(d.weights()))
		}, numbers, of)
		err = errors.Join(e, err)
	}
	return out, err
}

// cardDraws are draws of rows whose candidates are found.
type cardDraws struct {
	*cardFound
	s    *tensor.Scope
	o    *Sampling
	rows *tensor.Tensor // I64 [draws]
	u    *tensor.Tensor // F64 [draws]
}

// weights are how probable candidates are, compared with their row's first, 0 where they
// may not be drawn: F64 [rows, n].
func (d *cardDraws) weights() (w *tensor.Tensor) {
	tensor.Within(func(s *tensor.Scope) {
		n := d.values.Dim(1)
		scores := s.ToDType(d.values, tensor.F64)
		apart := s.Sub(scores, s.Narrow(scores, 1, 0, 1))
		s.ScaleInPlace(apart, 1/d.o.Temperature)
		w = s.Exp(apart)
		if k := int64(d.o.TopK); k > 0 && k < n {
			w = s.MaskedFill(w, s.Less(d.values, s.Narrow(d.values, 1, k-1, 1)), 0)
		}
		if d.o.TopP < 1 {
			sum := s.Cumsum(w, 1, tensor.F64)
			most := s.Scale(s.Narrow(sum, 1, n-1, 1), d.o.TopP)
			before := s.Cat(1, s.Zeros(tensor.F64, w.Device(), w.Dim(0), 1), s.Narrow(sum, 1, 0, n-1))
			w = s.MaskedFill(w, s.LessEqual(most, before), 0)
		}
		d.s.Move(w)
	})
	return w
}

// choose is the place of each draw among its row's candidates, [draws, 1]: the first at which the running sum of
// weights is above u times their total.
func (d *cardDraws) choose(weights *tensor.Tensor) *tensor.Tensor {
	s := d.s
	sum := s.Cumsum(weights, 1, tensor.F64)
	tensor.Free(weights)
	sum = s.IndexSelect(sum, 0, d.rows) // [draws, n]
	total := s.Narrow(sum, 1, sum.Dim(1)-1, 1)
	count := func(x *tensor.Tensor) *tensor.Tensor { return s.SumDim(x, 1, true) }
	at := count(s.LessEqual(sum, s.Mul(total, s.View(d.u, -1, 1))))
	return s.Minimum(at, count(s.Less(sum, total))) // rounding may leave none
}

// read takes the draws to the host, in one transfer. more says that candidates beyond the found ones are as probable as
// the last of top_k.
func (d *cardDraws) read(at *tensor.Tensor) (out []Candidate, more bool, err error) {
	s, n := d.s, d.values.Dim(1)
	of := func(t *tensor.Tensor, at *tensor.Tensor) *tensor.Tensor { // [draws, 1]
		return s.Gather(s.IndexSelect(t, 0, d.rows), 1, at)
	}
	position := of(d.position, at)
	ends := s.Less(s.Narrow(d.values, 1, n-1, 1), s.Narrow(d.values, 1, min(max(int64(d.o.TopK), 1), n)-1, 1))
	all := []*tensor.Tensor{
		s.ToDType(s.Bits(of(d.values, at), tensor.I32), tensor.I64), position, s.ToDType(s.IndexSelect(ends, 0, d.rows), tensor.I64)}
	if d.blocks != nil {
		all = append(all, of(d.blocks, s.FloorDivScalar(position, d.size)))
	}
	numbers := s.Cat(1, all...).Int64s()
	rows := d.rows.Dim(0)
	for per := len(numbers) / int(rows); len(numbers) > 0; numbers = numbers[per:] {
		c := Candidate{Score: math.Float32frombits(uint32(numbers[0])), Token: int32(numbers[1])}
		if c.Score != c.Score {
			return nil, false, ErrNaN
		}
		if d.blocks != nil {
			c.Token = int32(numbers[3]*d.size + numbers[1]%d.size)
		}
		more = more || numbers[2] == 0 && d.o.TopK > 0 && n < d.columns
		out = append(out, c)
	}
	return out, more, nil
}
