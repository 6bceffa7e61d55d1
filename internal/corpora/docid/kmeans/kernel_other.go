//go:build !amd64

package kmeans

func singleKernels() kernels[float32] { return inGo[float32]() }

func doubleKernels() kernels[float64] { return inGo[float64]() }
