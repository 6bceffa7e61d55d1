package kmeans

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

func singleKernels() kernels[float32] {
	k := inAssembly(dotsAVX2, addRowAVX2, centreRowAVX2)
	if hasAVX2 {
		k.four = func(rows []float32, numbers *[4]int, packed []float32, chunks int, out *[4]float32) {
			lanes := lanesOf[float32]()
			for _, n := range numbers {
				_ = rows[n*chunks*lanes : (n+1)*chunks*lanes]
			}
			_ = packed[(chunks-1)*group*lanes+lanes-1]
			fourAVX2(&rows[0], numbers, &packed[0], chunks, out)
		}
	}
	return k
}

func doubleKernels() kernels[float64] {
	return inAssembly(dots64AVX2, addRow64AVX2, centreRow64AVX2)
}

// inAssembly checks the bounds for functions that take the first number of each slice, and how many chunks there are.
func inAssembly[T float](dots func(x0, x1, packed *T, chunks int, out *pairDots[T]), addRow func(sum, x *T, chunks int), centreRow func(x, mean *T, chunks int) T) kernels[T] {
	if !hasAVX2 {
		return inGo[T]()
	}
	lanes := lanesOf[T]()
	return kernels[T]{
		four: fourGeneric[T],
		dots: func(x0, x1, packed []T, out *pairDots[T]) {
			n := len(x0)
			_, _ = x1[n-1], packed[n*group-1]
			dots(&x0[0], &x1[0], &packed[0], n/lanes, out)
		},
		addRow: func(sum, x []T) {
			n := len(sum)
			_ = x[n-1]
			addRow(&sum[0], &x[0], n/lanes)
		},
		centreRow: func(x, mean []T) T {
			n := len(x)
			_ = mean[n-1]
			return centreRow(&x[0], &mean[0], n/lanes)
		},
	}
}

//go:noescape
func dotsAVX2(x0, x1, packed *float32, chunks int, out *pairDots[float32])

//go:noescape
func fourAVX2(rows *float32, numbers *[4]int, packed *float32, chunks int, out *[4]float32)

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
