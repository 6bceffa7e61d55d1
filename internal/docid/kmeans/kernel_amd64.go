package kmeans

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

// chunkBytes is the size of a chunk, which one AVX register holds.
const chunkBytes = 32

func singleKernels() kernels[float32] {
	if !hasAVX2 {
		return inGo[float32]()
	}
	return kernels[float32]{
		dots: func(x0, x1, packed []float32, out *pairDots[float32]) {
			n := len(x0)
			_, _ = x1[n-1], packed[n*group-1]
			dotsAVX2(&x0[0], &x1[0], &packed[0], 4*n/chunkBytes, out)
		},
		addRow: func(sum, x []float32) {
			n := len(sum)
			_ = x[n-1]
			addRowAVX2(&sum[0], &x[0], 4*n/chunkBytes)
		},
		centreRow: func(x, mean []float32) float32 {
			n := len(x)
			_ = mean[n-1]
			return centreRowAVX2(&x[0], &mean[0], 4*n/chunkBytes)
		},
	}
}

func doubleKernels() kernels[float64] {
	if !hasAVX2 {
		return inGo[float64]()
	}
	return kernels[float64]{
		dots: func(x0, x1, packed []float64, out *pairDots[float64]) {
			n := len(x0)
			_, _ = x1[n-1], packed[n*group-1]
			dots64AVX2(&x0[0], &x1[0], &packed[0], 8*n/chunkBytes, out)
		},
		addRow: func(sum, x []float64) {
			n := len(sum)
			_ = x[n-1]
			addRow64AVX2(&sum[0], &x[0], 8*n/chunkBytes)
		},
		centreRow: func(x, mean []float64) float64 {
			n := len(x)
			_ = mean[n-1]
			return centreRow64AVX2(&x[0], &mean[0], 8*n/chunkBytes)
		},
	}
}

//go:noescape
func dotsAVX2(x0, x1, packed *float32, chunks int, out *pairDots[float32])

//go:noescape
func addRowAVX2(sum, x *float32, chunks int)

//go:noescape
func centreRowAVX2(x, mean *float32, chunks int) float32

//go:noescape
func dots64AVX2(x0, x1, packed *float64, chunks int, out *pairDots[float64])

//go:noescape
func addRow64AVX2(sum, x *float64, chunks int)

//go:noescape
func centreRow64AVX2(x, mean *float64, chunks int) float64
