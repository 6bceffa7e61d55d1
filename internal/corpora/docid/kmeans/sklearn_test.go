package kmeans

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// sklearnSet is one data set with scikit-learn 1.5.1's results (tools/golden/kmeans.py).
type sklearnSet struct {
	Name                                    string
	Rows, Cols, Clusters, Centres, Distinct int
	Single, Double                          sklearnResults
}

// sklearnResults are the results in one precision.
type sklearnResults struct {
	Given, Far sklearnResult
	Seeds      []sklearnResult
	Starts     sklearnResult // n_init=4, random_state=20
}

type sklearnResult struct {
	Labels     string
	Inertia    float64
	Iterations int
}

func sklearnSets(t *testing.T) (sets []sklearnSet) {
	t.Helper()
	goldens.JSON(t, "testdata/sklearn.json.gz", &sets)
	return sets
}

// data repeats the script's generator.
func (s *sklearnSet) data(index int) npy.Matrix {
	rng := newMersenne(uint32(1000 + index))
	x := make([]float64, s.Rows*s.Cols)
	for i := range x {
		u := rng.float64()
		x[i] = u + rng.float64()
	}
	if s.Centres > 0 {
		at := make([]float64, s.Centres*s.Cols)
		for i := range at {
			at[i] = rng.float64() * 8
		}
		for i := range x {
			x[i] += at[i/s.Cols%s.Centres*s.Cols+i%s.Cols]
		}
	}
	m := npy.Matrix{Data: make([]float32, len(x)), Rows: s.Rows, Cols: s.Cols}
	for i := range x {
		source := i
		if s.Distinct > 0 {
			source = i/s.Cols*7%s.Distinct*s.Cols + i%s.Cols
		}
		m.Data[i] = float32(x[source])
	}
	return m
}

func labelText(labels []int32) string {
	var b strings.Builder
	for _, l := range labels {
		b.WriteByte("0123456789abcdefghijklmnopqrstuvwxyz"[l])
	}
	return b.String()
}

// renumbered names clusters by the order of their first rows.
func renumbered(labels string) string {
	names := map[byte]byte{}
	out := make([]byte, len(labels))
	for i := range labels {
		if _, ok := names[labels[i]]; !ok {
			names[labels[i]] = 'A' + byte(len(names))
		}
		out[i] = names[labels[i]]
	}
	return string(out)
}

func differing(a, b string) int {
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-5*math.Abs(b)+1e-9 }

// eachSklearn calls check for every set and precision.
func eachSklearn(t *testing.T, check func(name string, m npy.Matrix, o Options, want sklearnResults)) {
	t.Helper()
	for i, s := range sklearnSets(t) {
		m := s.data(i)
		check(s.Name+" in float32", m, Options{Clusters: s.Clusters}, s.Single)
		check(s.Name+" in float64", m, Options{Clusters: s.Clusters, Double: true}, s.Double)
	}
}

func TestGivenCentresEqualScikitLearn(t *testing.T) {
	eachSklearn(t, func(name string, m npy.Matrix, o Options, want sklearnResults) {
		start := npy.Matrix{Data: slices.Clone(m.Data[:o.Clusters*m.Cols]), Rows: o.Clusters, Cols: m.Cols}
		far := npy.Matrix{Data: slices.Clone(start.Data), Rows: o.Clusters, Cols: m.Cols}
		for j := o.Clusters / 2 * m.Cols; j < len(far.Data); j++ {
			far.Data[j] += 1000
		}
		o.Init = &start
		r, err := Fit(context.Background(), m, o)
		testkit.None(t, err)
		if n := differing(labelText(r.Labels), want.Given.Labels); n > 0 {
			t.Errorf("%s: %d of %d labels differ", name, n, m.Rows)
		}
		if !near(r.Inertia, want.Given.Inertia) || r.Iterations != want.Given.Iterations {
			t.Errorf("%s: inertia %g after %d iterations, want %g after %d", name, r.Inertia, r.Iterations, want.Given.Inertia, want.Given.Iterations)
		}

		// Several clusters empty at once: which of the farthest rows goes to which of
		// them is numpy's argpartition's accident, so only the partition is compared.
		o.Init = &far
		if r, err = Fit(context.Background(), m, o); err != nil {
			t.Fatal(err)
		}
		if got, partition := renumbered(labelText(r.Labels)), renumbered(want.Far.Labels); got != partition || !near(r.Inertia, want.Far.Inertia) {
			t.Errorf("%s from far: %d rows lie elsewhere, inertia %g, want %g", name, differing(got, partition), r.Inertia, want.Far.Inertia)
		}
	})
}

// TestSeedsEqualScikitLearn starts from k-means++ with scikit-learn's random_state, once
// and, the best of them, four times.
func TestSeedsEqualScikitLearn(t *testing.T) {
	eachSklearn(t, func(name string, m npy.Matrix, o Options, want sklearnResults) {
		check := func(want sklearnResult) {
			t.Helper()
			r, err := Fit(context.Background(), m, o)
			testkit.None(t, err)
			if n := differing(labelText(r.Labels), want.Labels); n > 0 || !near(r.Inertia, want.Inertia) {
				t.Errorf("%s, seed %d, %d starts: %d labels differ, inertia %g, want %g", name, o.Seed, o.Starts, n, r.Inertia, want.Inertia)
			}
		}
		for seed, one := range want.Seeds {
			o.Seed = uint32(seed)
			check(one)
		}
		o.Seed, o.Starts = uint32(len(want.Seeds)), 4
		check(want.Starts)
	})
}
