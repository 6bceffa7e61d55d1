//go:build !amd64

package kmeans

func dots(x0, x1, packed []float32, out *pairDots) { dotsGeneric(x0, x1, packed, out) }

func addRow(sum, x []float32) { addRowGeneric(sum, x) }

func centreRow(x, mean []float32) float32 { return centreRowGeneric(x, mean) }
