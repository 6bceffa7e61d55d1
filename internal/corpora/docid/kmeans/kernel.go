package kmeans

import "unsafe"

// float is the precision of a fit.
type float interface{ float32 | float64 }

// Rows are zero-padded to full chunks of 32 bytes (8 or 4 lanes). A dot product keeps one sum per lane, rounds every
// product and sum, and adds lanes as ((0+1)+(2+3))+((4+5)+(6+7)). Assembly and Go give the same bits.
const (
	maxLanes = 8
	group    = 5 // centres that one kernel call compares with two rows
)

// lanesOf is the number of lanes of a chunk.
func lanesOf[T float]() int { return 32 / int(unsafe.Sizeof(T(0))) }

type kernels[T float] struct {
	dots      func(x0, x1, packed []T, out *pairDots[T])                         // two rows with the centres of a packed group
	four      func(rows []T, numbers *[4]int, packed []T, chunks int, out *[4]T) // four rows with the vector of a group that begins there
	addRow    func(sum, x []T)                                                   // adds x to sum
	centreRow func(x, mean []T) T                                                // subtracts mean from x and returns the square of x's norm
}

func inGo[T float]() kernels[T] {
	return kernels[T]{dotsGeneric[T], fourGeneric[T], addRowGeneric[T], centreRowGeneric[T]}
}

// groupsOf is the number of groups that hold k centres.
func groupsOf(k int) int { return (k + group - 1) / group }

// packCentres interleaves k padded rows by group, chunk and centre of the group; missing centres of the last group are
// zero. rows: [k][chunks*lanes] -> packed: [groups][chunks][group][lanes]
func packCentres[T float](packed, rows []T, k, chunks int) {
	lanes := lanesOf[T]()
	clear(packed)
	for j := range k {
		base := j/group*chunks*group*lanes + j%group*lanes
		row := rows[j*chunks*lanes : (j+1)*chunks*lanes]
		for c := range chunks {
			copy(packed[base+c*group*lanes:][:lanes], row[c*lanes:])
		}
	}
}

// pairDots are two rows' products with a group: row one with centres 0 to 3, row two, then centre 4 with each.
type pairDots[T float] [2 * group]T

func (p *pairDots[T]) first() [group]T  { return [group]T{p[0], p[1], p[2], p[3], p[8]} }
func (p *pairDots[T]) second() [group]T { return [group]T{p[4], p[5], p[6], p[7], p[9]} }

// Places returns the places in a pair of its first and second row's products with a vector of the group.
func Places(vector int) (first, second int) {
	if vector == group-1 {
		return 2*group - 2, 2*group - 1
	}
	return vector, group - 1 + vector
}

// dotsGeneric is the kernel in Go: x0, x1 [chunks*lanes], packed [chunks][group][lanes].
func dotsGeneric[T float](x0, x1, packed []T, out *pairDots[T]) {
	lanes := lanesOf[T]()
	for j := range group {
		first, second := Places(j)
		out[first], out[second] = dotLanes(x0, packed[j*lanes:]), dotLanes(x1, packed[j*lanes:])
	}
}

func fourGeneric[T float](rows []T, numbers *[4]int, packed []T, chunks int, out *[4]T) {
	width := chunks * lanesOf[T]()
	for i, n := range numbers {
		out[i] = dotLanes(rows[n*width:(n+1)*width], packed)
	}
}

// dotLanes multiplies x with one centre of a packed group that begins at c.
func dotLanes[T float](x, c []T) T {
	var sum [maxLanes]T
	lanes := lanesOf[T]()
	for at := 0; at < len(x); at += lanes {
		xs, cs := x[at:at+lanes:at+lanes], c[at*group:][:lanes:lanes]
		for t, v := range xs {
			sum[t] += T(v * cs[t])
		}
	}
	return addLanes(&sum)
}

// addLanes adds the lanes; lanes beyond a chunk are zero.
func addLanes[T float](l *[maxLanes]T) T {
	return ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]))
}

func addRowGeneric[T float](sum, x []T) {
	x = x[:len(sum)]
	for i, v := range x {
		sum[i] += v
	}
}

func centreRowGeneric[T float](x, mean []T) T {
	var sum [maxLanes]T
	lanes := lanesOf[T]()
	for at := 0; at < len(x); at += lanes {
		xs, ms := x[at:at+lanes:at+lanes], mean[at:at+lanes:at+lanes]
		for t := range xs {
			xs[t] -= ms[t]
			sum[t] += T(xs[t] * xs[t])
		}
	}
	return addLanes(&sum)
}
