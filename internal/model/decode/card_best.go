package decode

import (
	"math"

	"github.com/redsi/redsi/internal/model/tensor"
)

// cardBest finds each query's n best candidates by libtorch, on a card or not, in the order of worse: by score, then by
// row, then by column. Sorts are stable, so ties need nothing else.
//
// Not all scores are sorted. A row's scores are taken in blocks of neighbours. The n blocks of a query with the highest
// maxima, the earlier of equal ones, hold its n best candidates: each of these blocks has a candidate that is higher
// than a candidate of another block, or as high and earlier.
type cardBest struct {
	s       *tensor.Scope
	queries int
	n       int
}

// cardFound are candidates on a card.
type cardFound struct {
	s        *tensor.Scope
	values   *tensor.Tensor // [queries, k], best first
	position *tensor.Tensor // [queries, k] in all scores of the query, or in its blocks
	blocks   *tensor.Tensor // [queries, blocks] that were looked at, in order, or nil: all
	size     int64          // of a block
	columns  int64          // per row, the ends of the last blocks included
	queries  int
}

// of looks at scores [rows, columns], to which sums [rows] are added.
func (b cardBest) of(scores, sums *tensor.Tensor) *cardFound {
	s, queries := b.s, int64(b.queries)
	rows, columns := scores.Dim(0), scores.Dim(1)
	width, n := rows/queries, int64(b.n)
	f := &cardFound{s: s, queries: b.queries, columns: columns, size: blockSize(width*columns, n)}
	if f.size > 1 {
		if end := columns % f.size; end > 0 {
			f.columns += f.size - end
			scores = s.PadLast(scores, f.size-end, math.Inf(-1))
		}
	}
	perRow := f.columns / f.size
	if f.size == 1 || width*perRow <= n {
		all := s.Add(scores, s.View(sums, rows, 1))
		f.values, f.position = b.sorted(s.View(all, queries, width*f.columns))
		return f
	}
	maxima := s.MaxDim(s.View(scores, rows, perRow, f.size), 2, false)
	maxima = s.Add(maxima, s.View(sums, rows, 1))
	_, order := b.sorted(s.View(maxima, queries, width*perRow))
	f.blocks, _ = s.Sort(order, 1, false)
	every := s.Expand(s.Unsqueeze(f.blocks, 2), queries, n, f.size)
	some := s.Gather(s.View(scores, queries, width*perRow, f.size), 1, every)
	of := s.Gather(s.View(sums, queries, width), 1, s.FloorDivScalar(f.blocks, perRow)) // [queries, n]
	f.values, f.position = b.sorted(s.View(s.Add(some, s.Unsqueeze(of, 2)), queries, n*f.size))
	return f
}

// sorted is the n best of each row of x, and where they are.
func (b cardBest) sorted(x *tensor.Tensor) (values, at *tensor.Tensor) {
	k := min(int64(b.n), x.Dim(1))
	values, at = b.s.Sort(x, 1, true)
	return b.s.Narrow(values, 1, 0, k), b.s.Narrow(at, 1, 0, k)
}

// blockSize is the power of two for which the fewest numbers are sorted: count/size maxima and n blocks of that size.
func blockSize(count, n int64) int64 {
	size := int64(1)
	for size*size*4*n <= count {
		size *= 2
	}
	return size
}

// candidates reads what was found, in one transfer: nothing of a query with a score that is not a number. place says
// what is at a position in a query's scores.
func (f *cardFound) candidates(n int, place func(query int, at int64) (row, token int64)) [][]Candidate {
	bits := f.s.ToDType(f.s.Bits(f.values, tensor.I32), tensor.I64)
	all := []*tensor.Tensor{bits, f.position}
	if f.blocks != nil {
		all = append(all, f.blocks)
	}
	numbers := f.s.Cat(1, all...).Int64s()
	out, per, k := make([][]Candidate, f.queries), len(numbers)/f.queries, int(f.values.Dim(1))
	for q := range out {
		row := numbers[q*per : (q+1)*per]
		top := newBest(n) // drops dead rows
		for i := range k {
			score, at := math.Float32frombits(uint32(row[i])), row[k+i]
			if score != score {
				top = newBest(0)
				break
			}
			if f.blocks != nil {
				at = row[2*k+int(at/f.size)]*f.size + at%f.size
			}
			r, token := place(q, at)
			top.offer(Candidate{Row: int32(r), Token: int32(token), Score: score})
		}
		out[q] = top.sorted()
	}
	return out
}
