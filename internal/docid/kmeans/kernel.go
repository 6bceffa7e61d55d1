package kmeans

// Rows are padded with zeros to whole chunks of lanes. A dot product keeps one sum
// per lane, product and sum each rounded to float32, and adds the lanes as
// ((0+1)+(2+3))+((4+5)+(6+7)). Assembly and Go give the same bits.
const (
	lanes = 8
	group = 5 // centres that one kernel call compares with two rows
)

// chunksOf is the number of chunks that hold n numbers.
func chunksOf(n int) int { return (n + lanes - 1) / lanes }

// groupsOf is the number of groups that hold k centres.
func groupsOf(k int) int { return (k + group - 1) / group }

// packCentres interleaves k padded rows for the kernel: by group, then by chunk,
// then by centre of the group. Missing centres of the last group are zero.
// rows: [k][chunks*lanes] -> packed: [groups][chunks][group][lanes]
func packCentres(packed, rows []float32, k, chunks int) {
	clear(packed)
	for j := range k {
		base := j/group*chunks*group*lanes + j%group*lanes
		row := rows[j*chunks*lanes : (j+1)*chunks*lanes]
		for c := range chunks {
			copy(packed[base+c*group*lanes:][:lanes], row[c*lanes:])
		}
	}
}

// pairDots are the products of two rows with the five centres of a group: the first
// row's with centres 0 to 3, the second row's, then centre 4 with either row.
type pairDots [2 * group]float32

func (p *pairDots) first() [group]float32  { return [group]float32{p[0], p[1], p[2], p[3], p[8]} }
func (p *pairDots) second() [group]float32 { return [group]float32{p[4], p[5], p[6], p[7], p[9]} }

// dotsGeneric is the kernel in Go: x0, x1 [chunks*lanes], packed
// [chunks][group][lanes].
func dotsGeneric(x0, x1, packed []float32, out *pairDots) {
	for j := range group {
		a, b := dotLanes(x0, packed[j*lanes:]), dotLanes(x1, packed[j*lanes:])
		if j < 4 {
			out[j], out[4+j] = a, b
		} else {
			out[8], out[9] = a, b
		}
	}
}

// dotLanes multiplies x with one centre of a packed group that begins at c.
func dotLanes(x, c []float32) float32 {
	var sum [lanes]float32
	for at := 0; at < len(x); at += lanes {
		xs, cs := x[at:at+lanes:at+lanes], c[at*group:][:lanes:lanes]
		for t := range sum {
			sum[t] += float32(xs[t] * cs[t])
		}
	}
	return addLanes(&sum)
}

func addLanes(l *[lanes]float32) float32 {
	return ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]))
}

// addRowGeneric adds x to sum.
func addRowGeneric(sum, x []float32) {
	x = x[:len(sum)]
	for i, v := range x {
		sum[i] += v
	}
}

// centreRowGeneric subtracts mean from x and returns the square of x's norm.
func centreRowGeneric(x, mean []float32) float32 {
	var sum [lanes]float32
	for at := 0; at < len(x); at += lanes {
		xs, ms := x[at:at+lanes:at+lanes], mean[at:at+lanes:at+lanes]
		for t := range sum {
			xs[t] -= ms[t]
			sum[t] += float32(xs[t] * xs[t])
		}
	}
	return addLanes(&sum)
}
