package kmeans

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// sklearnSet is one data set with scikit-learn 1.5.1's results
// (tools/golden/kmeans.py).
type sklearnSet struct {
	Name                                    string
	Rows, Cols, Clusters, Centres, Distinct int
	Given, Far                              sklearnResult
	Seeds                                   []sklearnResult
}

type sklearnResult struct {
	Labels     string
	Inertia    float64
	Iterations int
}

func sklearnSets(t *testing.T) []sklearnSet {
	t.Helper()
	f, err := os.Open("testdata/sklearn.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var sets []sklearnSet
	if err := json.NewDecoder(zr).Decode(&sets); err != nil {
		t.Fatal(err)
	}
	return sets
}

// data repeats the script's generator.
func (s *sklearnSet) data(index int) Matrix {
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
	m := Matrix{Data: make([]float32, len(x)), Rows: s.Rows, Cols: s.Cols}
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

func TestGivenCentresEqualScikitLearn(t *testing.T) {
	for i, s := range sklearnSets(t) {
		m := s.data(i)
		start := Matrix{Data: slices.Clone(m.Data[:s.Clusters*s.Cols]), Rows: s.Clusters, Cols: s.Cols}
		far := Matrix{Data: slices.Clone(start.Data), Rows: s.Clusters, Cols: s.Cols}
		for j := s.Clusters / 2 * s.Cols; j < len(far.Data); j++ {
			far.Data[j] += 1000
		}
		r, err := Fit(context.Background(), m, Options{Clusters: s.Clusters, Init: &start})
		if err != nil {
			t.Fatal(err)
		}
		if n := differing(labelText(r.Labels), s.Given.Labels); n > 0 {
			t.Errorf("%s: %d of %d labels differ", s.Name, n, s.Rows)
		}
		if !near(r.Inertia, s.Given.Inertia) || r.Iterations != s.Given.Iterations {
			t.Errorf("%s: inertia %g after %d iterations, want %g after %d", s.Name, r.Inertia, r.Iterations, s.Given.Inertia, s.Given.Iterations)
		}

		// Several clusters empty at once: which of the farthest rows goes to which of
		// them is numpy's argpartition's accident, so only the partition is compared.
		if r, err = Fit(context.Background(), m, Options{Clusters: s.Clusters, Init: &far}); err != nil {
			t.Fatal(err)
		}
		if got, want := renumbered(labelText(r.Labels)), renumbered(s.Far.Labels); got != want || !near(r.Inertia, s.Far.Inertia) {
			t.Errorf("%s from far: %d rows lie elsewhere, inertia %g, want %g", s.Name, differing(got, want), r.Inertia, s.Far.Inertia)
		}
	}
}

// TestSeedsEqualScikitLearn starts from k-means++ with scikit-learn's random_state.
func TestSeedsEqualScikitLearn(t *testing.T) {
	for i, s := range sklearnSets(t) {
		m := s.data(i)
		inertias := make([]float64, len(s.Seeds))
		for seed, want := range s.Seeds {
			inertias[seed] = want.Inertia
			r, err := Fit(context.Background(), m, Options{Clusters: s.Clusters, Seed: uint32(seed)})
			if err != nil {
				t.Fatal(err)
			}
			if n := differing(labelText(r.Labels), want.Labels); n > 0 || !near(r.Inertia, want.Inertia) {
				t.Errorf("%s with seed %d: %d labels differ, inertia %g, want %g", s.Name, seed, n, r.Inertia, want.Inertia)
			}
		}
	}
}
