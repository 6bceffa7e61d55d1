package kmeans

import (
	"context"
	"testing"

	"github.com/redsi/redsi/internal/corpora/npy"
)

// BenchmarkIteration is one Lloyd iteration of 20,000 rows by 512 columns with 10
// clusters, beside bench/peers/kmeans.py.
func BenchmarkIteration(b *testing.B) {
	rng := newMersenne(1)
	m := npy.Matrix{Data: make([]float32, 20_000*512), Rows: 20_000, Cols: 512}
	for i := range m.Data {
		m.Data[i] = float32(rng.float64() + rng.float64() + rng.float64() - 1.5)
	}
	start := npy.Matrix{Data: m.Data[:10*512], Rows: 10, Cols: 512}
	for name, double := range map[string]bool{"float32": false, "float64": true} {
		b.Run(name, func(b *testing.B) {
			w := new(Workspace)
			iterations := 0
			for b.Loop() {
				r, err := w.FitRows(context.Background(), m, nil, Options{Clusters: 10, Init: &start, Tolerance: -1, MaxIterations: 60, Double: double})
				if err != nil {
					b.Fatal(err)
				}
				iterations += r.Iterations
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(iterations), "ms/iteration")
		})
	}
}
