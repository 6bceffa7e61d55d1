package kmeans

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
)

// lloyd moves centres [k][width] until no label changes or the centres' squared shift is within the tolerance
// (scikit-learn: _kmeans_single_lloyd), and sets r's labels and counts of iterations.
func (w *fitter[T]) lloyd(ctx context.Context, centres []T, o Options, r *Result) error {
	k := o.Clusters
	tolerance := max(o.Tolerance, 0) * w.meanVariance()
	w.packed = resized(w.packed, groupsOf(k)*group*w.width())
	w.sums = resized(w.sums, stripesOf(w.rows)*k*w.width())
	w.counts = resized(w.counts, stripesOf(w.rows)*k)
	moved := make([]T, len(centres))
	for r.Iterations < o.MaxIterations {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.Iterations++
		changed := w.assign(centres, k, r.Labels, true)
		w.means(moved, centres, k, r.Labels)
		shift := squaredShift(centres, moved)
		copy(centres, moved)
		if !changed {
			return nil
		}
		if shift <= tolerance {
			break
		}
	}
	w.assign(centres, k, r.Labels, false) // labels of the centres that are returned
	return nil
}

// assign gives every row its nearest centre, the first of equals, and reports whether a label changed. With update it also
// sums each cluster's rows by stripe, while they are in the cache.
func (w *fitter[T]) assign(centres []T, k int, labels []int32, update bool) bool {
	width := w.width()
	packCentres(w.packed, centres, k, w.chunks)
	norms := make([]T, k)
	zero := make([]T, width)
	for j := range norms {
		norms[j] = w.centreRow(centres[j*width:(j+1)*width], zero)
	}
	var changed atomic.Bool
	w.eachStripe(func(s, from, to int) {
		sums, counts := w.sums[s*k*width:(s+1)*k*width], w.counts[s*k:(s+1)*k]
		if update {
			clear(sums)
			clear(counts)
		}
		var p pairDots[T] // here: it escapes
		anew := false
		take := func(i, label int) {
			if labels[i] != int32(label) {
				labels[i] = int32(label)
				anew = true
			}
			if update {
				w.addRow(sums[label*width:(label+1)*width], w.row(i))
				counts[label]++
			}
		}
		for i := from; i < to; i += 2 {
			other := min(i+1, to-1)
			first, second := w.closest(w.row(i), w.row(other), norms, &p)
			take(i, first)
			if other > i {
				take(other, second)
			}
		}
		if anew {
			changed.Store(true)
		}
	})
	return changed.Load()
}

// closest returns the nearest centres of two rows by |c|^2 - 2 x.c; p is scratch.
func (w *fitter[T]) closest(x0, x1, norms []T, p *pairDots[T]) (first, second int) {
	size := group * w.width()
	least0, least1 := T(math.Inf(1)), T(math.Inf(1))
	for g := 0; g*group < len(norms); g++ {
		w.dots(x0, x1, w.packed[g*size:(g+1)*size], p)
		a, b := p.first(), p.second()
		for j, norm := range norms[g*group : min(len(norms), (g+1)*group)] {
			if d := norm - 2*a[j]; d < least0 {
				least0, first = d, g*group+j
			}
			if d := norm - 2*b[j]; d < least1 {
				least1, second = d, g*group+j
			}
		}
	}
	return first, second
}

// means sets moved to the clusters' means. An empty cluster gets the row farthest from its centre (scikit-learn:
// _relocate_empty_clusters_dense) or, if all rows lie on centres, the largest cluster's place (_average_centers).
func (w *fitter[T]) means(moved, centres []T, k int, labels []int32) {
	width := w.width()
	clear(moved)
	counts := make([]int, k)
	for s := range stripesOf(w.rows) {
		for j := range k {
			if n := w.counts[s*k+j]; n > 0 {
				counts[j] += n
				w.addRow(moved[j*width:(j+1)*width], w.sums[(s*k+j)*width:][:width])
			}
		}
	}
	w.fillEmpty(moved, centres, counts, labels)
	largest := slices.Index(counts, slices.Max(counts))
	for j, n := range counts {
		row := moved[j*width : (j+1)*width]
		if n == 0 {
			copy(row, moved[largest*width:(largest+1)*width])
			continue
		}
		scale := 1 / T(n)
		for c := range row {
			row[c] *= scale
		}
	}
}

// fillEmpty moves the farthest rows to empty clusters' sums; labels stay until the next assignment.
func (w *fitter[T]) fillEmpty(sums, centres []T, counts []int, labels []int32) {
	if !slices.Contains(counts, 0) {
		return
	}
	width := w.width()
	distances := make([]T, w.rows)
	w.eachStripe(func(_, from, to int) {
		for i := from; i < to; i++ {
			distances[i] = squaredDistance(w.row(i), centres[int(labels[i])*width:][:width])
		}
	})
	if slices.Max(distances) == 0 {
		return // fewer distinct rows than clusters
	}
	for j, n := range slices.Clone(counts) { // without clusters that this empties
		if n > 0 {
			continue
		}
		far := slices.Index(distances, slices.Max(distances))
		distances[far] = -1
		row, to, from := w.row(far), sums[j*width:(j+1)*width], sums[int(labels[far])*width:][:width]
		copy(to, row)
		for c, v := range row {
			from[c] -= v
		}
		counts[j] = 1
		counts[labels[far]]--
	}
}

func (w *fitter[T]) inertia(centres []T, labels []int32) float64 {
	width := w.width()
	partial := make([]float64, stripesOf(w.rows))
	w.eachStripe(func(s, from, to int) {
		for i := from; i < to; i++ {
			partial[s] += float64(squaredDistance(w.row(i), centres[int(labels[i])*width:][:width]))
		}
	})
	var sum float64
	for _, v := range partial {
		sum += v
	}
	return sum
}

func squaredShift[T float](a, b []T) float64 {
	var sum float64
	for i, v := range a {
		d := float64(v) - float64(b[i])
		sum += float64(d * d)
	}
	return sum
}

// squaredDistance is |a-b|^2 in the lanes of the kernels.
func squaredDistance[T float](a, b []T) T {
	var sum [maxLanes]T
	lanes := lanesOf[T]()
	for at := 0; at < len(a); at += lanes {
		as, bs := a[at:at+lanes:at+lanes], b[at:at+lanes:at+lanes]
		for t, v := range as {
			d := v - bs[t]
			sum[t] += T(d * d)
		}
	}
	return addLanes(&sum)
}
