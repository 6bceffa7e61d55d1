package kmeans

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/redsi/redsi/internal/corpora/npy"
)

// Options are KMeans's parameters. Zero values mean scikit-learn's defaults, except that Clusters must be given.
type Options struct {
	Clusters      int
	Seed          uint32      // random_state
	Init          *npy.Matrix // starting centres, in place of k-means++
	Starts        int         // n_init: the fit of least inertia counts; 1
	MaxIterations int         // 300
	Tolerance     float64     // 1e-4, relative to the mean variance of the columns; negative: 0
	Double        bool        // compute in float64, as scikit-learn with float64 data; false: float32
	Threads       int         // all processors; no effect on the result
}

// Result is a fit. Rows count from zero in the order in which they were given.
type Result struct {
	Labels     []int32 // cluster of each row; a cluster lacks rows only if fewer than Options.Clusters are distinct
	Centres    npy.Matrix
	Inertia    float64 // sum of squared distances to the rows' centres
	Iterations int
}

// Fit clusters all rows of m.
func Fit(ctx context.Context, m npy.Matrix, o Options) (*Result, error) {
	if err := Check(m); err != nil {
		return nil, fmt.Errorf("k-means: %w", err)
	}
	return new(Workspace).FitRows(ctx, m, nil, o)
}

// Workspace keeps the memory of a fit for the next one. It serves one fit at a time.
type Workspace struct {
	single fitter[float32]
	double fitter[float64]
}

// FitRows clusters the rows of m that index names, or all with a nil index. m must have passed Check.
func (w *Workspace) FitRows(ctx context.Context, m npy.Matrix, index []int32, o Options) (*Result, error) {
	n := m.Rows
	if index != nil {
		n = len(index)
	}
	o, err := o.withDefaults(n, m.Cols)
	if err != nil {
		return nil, fmt.Errorf("k-means: %w", err)
	}
	if o.Double {
		w.double.kernels = doubleKernels()
		return w.double.fit(ctx, m, index, n, o)
	}
	w.single.kernels = singleKernels()
	return w.single.fit(ctx, m, index, n, o)
}

// fitter is a Workspace of one precision.
type fitter[T float] struct {
	kernels[T]
	rows, cols int // of the current data
	chunks     int // per padded row
	threads    int

	x       []T   // [rows][chunks*lanes], centred
	mean    []T   // [chunks*lanes]
	norms   []T   // [rows], squared
	sums    []T   // [stripes][k][chunks*lanes]
	counts  []int // [stripes][k]
	packed  []T
	nearest []T       // [1+trials][rows] of k-means++
	upTo    []float64 // [rows] of k-means++
}

// fit returns the best of o.Starts fits on successive random numbers, the first of equals (scikit-learn: KMeans.fit).
func (w *fitter[T]) fit(ctx context.Context, m npy.Matrix, index []int32, n int, o Options) (best *Result, err error) {
	w.load(m, index, n, o.Threads)
	rng := newMersenne(o.Seed)
	for range o.Starts {
		r, err := w.once(ctx, m, n, o, rng)
		if err != nil {
			return nil, err
		}
		if best == nil || r.Inertia < best.Inertia && !sameClustering(r.Labels, best.Labels) {
			best = r
		}
	}
	return best, nil
}

// sameClustering reports whether each cluster of a lies within a cluster of b.
func sameClustering(a, b []int32) bool {
	of := map[int32]int32{}
	for i, l := range a {
		if other, ok := of[l]; ok && other != b[i] {
			return false
		}
		of[l] = b[i]
	}
	return true
}

func (w *fitter[T]) once(ctx context.Context, m npy.Matrix, n int, o Options, rng *mersenne) (*Result, error) {
	r := &Result{Labels: slices.Repeat([]int32{-1}, n)}
	centres := make([]T, o.Clusters*w.width())
	if o.Init != nil {
		for j := range o.Clusters {
			padded := centres[j*w.width() : (j+1)*w.width()]
			convert(padded, o.Init.Row(j))
			w.centreRow(padded, w.mean)
		}
	} else if err := w.plusPlus(ctx, centres, o, rng); err != nil {
		return nil, err
	}
	if err := w.lloyd(ctx, centres, o, r); err != nil {
		return nil, err
	}
	r.Inertia = w.inertia(centres, r.Labels)
	r.Centres = npy.Matrix{Data: make([]float32, o.Clusters*m.Cols), Rows: o.Clusters, Cols: m.Cols}
	for j := range o.Clusters {
		row := r.Centres.Row(j)
		for c := range row {
			row[c] = float32(centres[j*w.width()+c] + w.mean[c])
		}
	}
	return r, nil
}

func (o Options) withDefaults(rows, cols int) (Options, error) {
	o.MaxIterations = cmp.Or(o.MaxIterations, 300)
	o.Tolerance = cmp.Or(o.Tolerance, 1e-4)
	if o.Starts == 0 || o.Init != nil {
		o.Starts = 1
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	switch {
	case o.Clusters < 1:
		return o, fmt.Errorf("the number of clusters is %d, want at least 1", o.Clusters)
	case rows < o.Clusters:
		return o, fmt.Errorf("%d rows cannot make %d clusters", rows, o.Clusters)
	case o.MaxIterations < 0 || o.Starts < 0:
		return o, fmt.Errorf("%d starts of at most %d iterations, want at least 1", o.Starts, o.MaxIterations)
	case o.Init == nil:
		return o, nil
	}
	if err := Check(*o.Init); err != nil {
		return o, fmt.Errorf("starting centres: %w", err)
	}
	if o.Init.Rows != o.Clusters || o.Init.Cols != cols {
		return o, fmt.Errorf("the starting centres are %d by %d, want %d by %d", o.Init.Rows, o.Init.Cols, o.Clusters, cols)
	}
	return o, nil
}

// width is the length of a padded row.
func (w *fitter[T]) width() int { return w.chunks * lanesOf[T]() }

// row is padded row i of the centred data.
func (w *fitter[T]) row(i int) []T {
	return w.x[i*w.width() : (i+1)*w.width() : (i+1)*w.width()]
}

// convert fills the beginning of a row, whose rest is zero.
func convert[T float](row []T, from []float32) {
	for c, v := range from {
		row[c] = T(v)
	}
}

// resized returns a slice of n numbers, in s's memory if that is enough.
func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// Check checks a matrix, and names its first NaN or infinity.
func Check(m npy.Matrix) error {
	if err := m.Check(); err != nil {
		return err
	}
	if i := slices.IndexFunc(m.Data, func(v float32) bool { return v-v != 0 }); i >= 0 {
		return fmt.Errorf("row %d, column %d is %v: k-means needs finite numbers", i/m.Cols, i%m.Cols, m.Data[i])
	}
	return nil
}
