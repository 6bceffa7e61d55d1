package kmeans

import (
	"context"
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext/prng"
)

// maxTrials bounds how many candidates one kernel call compares.
const maxTrials = group

// plusPlus fills centres [k][width] by greedy k-means++ (scikit-learn: _kmeans_plusplus): each centre is the best of
// several rows drawn with probability proportional to their squared distance to the nearest centre.
func (w *fitter[T]) plusPlus(ctx context.Context, centres []T, o Options, rng *mersenne) error {
	seeds := make([]int, 0, o.Clusters)
	take := func(row int) {
		copy(centres[len(seeds)*w.width():], w.row(row))
		seeds = append(seeds, row)
	}
	trials := 2 + int(math.Log(float64(o.Clusters))) // candidates per centre
	w.nearest = resized(w.nearest, (1+trials)*w.rows)
	w.upTo = resized(w.upTo, w.rows)
	nearest, byTrial := w.nearest[:w.rows], w.nearest[w.rows:]

	take(min(int(rng.float64()*float64(w.rows)), w.rows-1))
	for i := range nearest {
		nearest[i] = T(math.Inf(1))
	}
	potentials := w.nearestWith(seeds, nearest, nearest)
	potential := potentials[0]
	candidates := make([]int, trials)
	for len(seeds) < o.Clusters {
		if err := ctx.Err(); err != nil {
			return err
		}
		var sum float64
		for i, d := range nearest {
			sum += float64(d)
			w.upTo[i] = sum
		}
		for t := range candidates {
			want := rng.float64() * potential
			candidates[t] = min(sort.SearchFloat64s(w.upTo, want), w.rows-1)
		}
		best := 0
		for from := 0; from < trials; from += maxTrials {
			to := min(from+maxTrials, trials)
			potentials = w.nearestWith(candidates[from:to], nearest, byTrial[from*w.rows:to*w.rows])
			for t, p := range potentials {
				if from+t == 0 || p < potential {
					best, potential = from+t, p
				}
			}
		}
		copy(nearest, byTrial[best*w.rows:(best+1)*w.rows])
		take(candidates[best])
	}
	return nil
}

// nearestWith sets out[t] to the squared distances to the nearest centre if row candidates[t] becomes a centre, and returns
// their sums. nearest [rows]: the distances without it; out: [len(candidates)][rows].
func (w *fitter[T]) nearestWith(candidates []int, nearest, out []T) []float64 {
	k, width := len(candidates), w.width()
	rows := make([]T, k*width)
	for t, c := range candidates {
		copy(rows[t*width:], w.row(c))
	}
	w.packed = resized(w.packed, groupsOf(k)*group*width)
	packCentres(w.packed, rows, k, w.chunks)
	partial := make([]float64, stripesOf(w.rows)*k)
	w.eachStripe(func(s, from, to int) {
		sums := partial[s*k : (s+1)*k]
		one := func(i int, products [group]T) {
			for t := range sums {
				d := w.norms[i] + w.norms[candidates[t]] - 2*products[t]
				d = min(max(d, 0), nearest[i])
				out[t*w.rows+i] = d
				sums[t] += float64(d)
			}
		}
		var p pairDots[T]
		for i := from; i < to; i += 2 {
			other := min(i+1, to-1)
			w.dots(w.row(i), w.row(other), w.packed, &p)
			one(i, p.first())
			if other > i {
				one(other, p.second())
			}
		}
	})
	total := make([]float64, k)
	for at, v := range partial {
		total[at%k] += v
	}
	return total
}

// mersenne is MT19937, seeded and read as numpy's RandomState does.
type mersenne struct{ prng.MT19937 }

func newMersenne(seed uint32) *mersenne {
	var m mersenne
	m.Seed(uint64(seed))
	return &m
}

// float64 is uniform in [0, 1) with 53 bits (numpy: random_sample).
func (m *mersenne) float64() float64 {
	a, b := m.Uint32()>>5, m.Uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}
