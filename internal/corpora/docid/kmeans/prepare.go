package kmeans

import (
	"sync"
	"sync/atomic"

	"github.com/redsi/redsi/internal/corpora/npy"
)

// stripe is the number of rows in a partial sum, fixed so that no sum depends on the number of threads.
const stripe = 1024

func stripesOf(rows int) int { return (rows + stripe - 1) / stripe }

// eachStripe calls do for every stripe's rows [from, to), on w's threads.
func (w *fitter[T]) eachStripe(do func(s, from, to int)) {
	stripes := stripesOf(w.rows)
	one := func(s int) { do(s, s*stripe, min(w.rows, (s+1)*stripe)) }
	workers := min(w.threads, stripes)
	if workers <= 1 {
		for s := range stripes {
			one(s)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for s := int(next.Add(1)) - 1; s < stripes; s = int(next.Add(1)) - 1 {
				one(s)
			}
		})
	}
	wg.Wait()
}

// load copies the n rows into padded memory, subtracts their mean and takes the squares of their norms.
func (w *fitter[T]) load(m npy.Matrix, index []int32, n, threads int) {
	w.rows, w.cols, w.threads = n, m.Cols, threads
	w.chunks = (m.Cols + lanesOf[T]() - 1) / lanesOf[T]()
	width := w.width()
	w.x = resized(w.x, w.rows*width)
	w.norms = resized(w.norms, w.rows)
	w.mean = resized(w.mean, width)
	w.sums = resized(w.sums, stripesOf(w.rows)*width)
	w.eachStripe(func(s, from, to int) {
		sum := w.sums[s*width : (s+1)*width]
		clear(sum)
		for i := from; i < to; i++ {
			source := i
			if index != nil {
				source = int(index[i])
			}
			row := w.row(i)
			clear(row[m.Cols:])
			convert(row, m.Row(source))
			w.addRow(sum, row)
		}
	})
	for c := range w.mean {
		var sum float64
		for s := range stripesOf(w.rows) {
			sum += float64(w.sums[s*width+c])
		}
		w.mean[c] = T(sum / float64(w.rows))
	}
	w.eachStripe(func(_, from, to int) {
		for i := from; i < to; i++ {
			w.norms[i] = w.centreRow(w.row(i), w.mean)
		}
	})
}

// meanVariance is the mean variance of the columns: the centred rows' squared norms over all numbers.
func (w *fitter[T]) meanVariance() float64 {
	var sum float64
	for _, v := range w.norms {
		sum += float64(v)
	}
	return sum / float64(w.rows) / float64(w.cols)
}
