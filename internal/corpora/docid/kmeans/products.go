package kmeans

import "github.com/redsi/redsi/internal/corpora/npy"

// Products are inner products with a set of vectors, in float32, with the same bits on any processor (kernel.go).
type Products struct {
	kernel kernels[float32]
	packed []float32
	chunks int

	Width  int // of a row to multiply: a vector with zeros behind it
	Groups int // of vectors; each except the last has Group vectors
}

// NewProducts packs vectors to multiply others with.
func NewProducts(m npy.Matrix) *Products {
	p := &Products{kernel: singleKernels(), chunks: (m.Cols + maxLanes - 1) / maxLanes, Groups: groupsOf(m.Rows)}
	p.Width = p.chunks * maxLanes
	p.packed = make([]float32, p.Groups*group*p.Width)
	padded := make([]float32, group*p.Width)
	for from := 0; from < m.Rows; from += group {
		n := min(group, m.Rows-from)
		clear(padded)
		for i := range n {
			copy(padded[i*p.Width:], m.Row(from+i))
		}
		packCentres(p.packed[from*p.Width:][:group*p.Width], padded, n, p.chunks)
	}
	return p
}

// Group is how many vectors are multiplied at once.
const Group = group

// Pair holds the products of two rows with the vectors of a group.
type Pair = pairDots[float32]

// Of multiplies pairs of rows, each row of Width numbers and one behind the other, with the vectors of a group.
func (p *Products) Of(to []Pair, rows []float32, group int) {
	size := Group * p.Width
	packed := p.packed[group*size : (group+1)*size]
	for i := range to {
		two := rows[2*i*p.Width : (2*i+2)*p.Width]
		p.kernel.dots(two[:p.Width], two[p.Width:], packed, &to[i])
	}
}

// Four multiplies four rows, given by number, with one vector.
func (p *Products) Four(rows []float32, numbers *[4]int, vector int) (out [4]float32) {
	size := Group * p.Width
	p.kernel.four(rows, numbers, p.packed[vector/Group*size : (vector/Group+1)*size][vector%Group*maxLanes:], p.chunks, &out)
	return out
}
