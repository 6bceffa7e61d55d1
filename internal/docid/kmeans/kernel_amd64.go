package kmeans

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

// dots multiplies two rows with the centres of a packed group.
func dots(x0, x1, packed []float32, out *pairDots) {
	if !hasAVX2 {
		dotsGeneric(x0, x1, packed, out)
		return
	}
	n := len(x0)
	_, _ = x1[n-1], packed[n*group-1]
	dotsAVX2(&x0[0], &x1[0], &packed[0], n/lanes, out)
}

// addRow adds x to sum.
func addRow(sum, x []float32) {
	if !hasAVX2 {
		addRowGeneric(sum, x)
		return
	}
	n := len(sum)
	_ = x[n-1]
	addRowAVX2(&sum[0], &x[0], n/lanes)
}

// centreRow subtracts mean from x and returns the square of x's norm.
func centreRow(x, mean []float32) float32 {
	if !hasAVX2 {
		return centreRowGeneric(x, mean)
	}
	n := len(x)
	_ = mean[n-1]
	return centreRowAVX2(&x[0], &mean[0], n/lanes)
}

//go:noescape
func dotsAVX2(x0, x1, packed *float32, chunks int, out *pairDots)

//go:noescape
func addRowAVX2(sum, x *float32, chunks int)

//go:noescape
func centreRowAVX2(x, mean *float32, chunks int) float32
