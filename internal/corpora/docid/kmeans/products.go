package kmeans

import "github.com/redsi/redsi/internal/corpora/npy"

// Products are inner products with a set of vectors, in float32, with the same bits on any processor (kernel.go).
type Products struct {
	kernel kernels[float32]
	packed []float32
	chunks int
	rows   int
}

// NewProducts packs vectors to multiply others with.
func NewProducts(m npy.Matrix) *Products {
	p := &Products{kernel: singleKernels(), chunks: (m.Cols + maxLanes - 1) / maxLanes, rows: m.Rows}
	p.packed = make([]float32, groupsOf(m.Rows)*p.chunks*group*maxLanes)
	padded := make([]float32, group*p.Width())
	for from := 0; from < m.Rows; from += group {
		n := min(group, m.Rows-from)
		clear(padded)
		for i := range n {
			copy(padded[i*p.Width():], m.Row(from+i))
		}
		packCentres(p.packed[from/group*p.chunks*group*maxLanes:][:p.chunks*group*maxLanes], padded, n, p.chunks)
	}
	return p
}

// Width is the length of a row to multiply: a vector with zeros behind it.
func (p *Products) Width() int { return p.chunks * maxLanes }

// Groups is the number of groups of vectors; each except the last has Group vectors.
func (p *Products) Groups() int { return groupsOf(p.rows) }

// Group is how many vectors are multiplied at once.
const Group = group

// Pair holds the products of two rows with the vectors of a group.
type Pair = pairDots[float32]

// Of multiplies pairs of rows, each row of Width numbers and one behind the other, with the vectors of a group.
func (p *Products) Of(to []Pair, rows []float32, group int) {
	width, size := p.Width(), p.chunks*Group*maxLanes
	packed := p.packed[group*size : (group+1)*size]
	for i := range to {
		two := rows[2*i*width : (2*i+2)*width]
		p.kernel.dots(two[:width], two[width:], packed, &to[i])
	}
}

// Four multiplies four rows, given by number, with one vector.
func (p *Products) Four(rows []float32, numbers *[4]int, vector int) (out [4]float32) {
	size := p.chunks * Group * maxLanes
	p.kernel.four(rows, numbers, p.packed[vector/Group*size : (vector/Group+1)*size][vector%Group*maxLanes:], p.chunks, &out)
	return out
}
