package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
	"github.com/redsi/redsi/internal/corpora/npy"
)

// The k-means problem of the paper's semantic identifiers, one node of the tree.
const (
	kmeansRows, kmeansCols  = 20_000, 512
	kmeansClusters          = 10
	kmeansIterations        = 60
	kmeansRuns              = 3
	vectorsName, vectorFile = "vectors1", "vectors.f32"
)

var kmeansLines = []line{{
	name: "kmeans_vs_sklearn", target: 0.5, value: perUnit,
	doc:  "one Lloyd iteration on 20,000 x 512 vectors, k=10, same start, 2 threads, against scikit-learn 1.5.1",
	ours: pieceOn("kmeans", (*env).vectors),
	peer: scriptOn(small, "kmeans.py", (*env).vectors, "--threads", "2", "--runs", strconv.Itoa(kmeansRuns), "--iterations", strconv.Itoa(kmeansIterations)),
}}

// vectors is the file that both sides cluster.
func (e *env) vectors() (string, error) {
	dir, err := e.keepPiece(vectorsName, "make-vectors")
	return filepath.Join(dir, vectorFile), err
}

// makeVectors writes numbers of a bell shape: sums of three uniform ones.
func makeVectors(args []string) (sample, error) {
	f, err := os.Create(filepath.Join(args[0], vectorFile))
	if err != nil {
		return sample{}, err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	rng := rand.New(rand.NewPCG(1, 1))
	for range kmeansRows * kmeansCols {
		v := float32(rng.Float64() + rng.Float64() + rng.Float64() - 1.5)
		if err := binary.Write(w, binary.LittleEndian, math.Float32bits(v)); err != nil {
			return sample{}, err
		}
	}
	return sample{}, errors.Join(w.Flush(), f.Close())
}

// clusterVectors fits the file several times after a first, and reports iterations.
func clusterVectors(args []string) (sample, error) {
	var s sample
	b, err := os.ReadFile(args[0])
	if err != nil {
		return s, err
	}
	m := npy.Matrix{Data: make([]float32, len(b)/4), Rows: kmeansRows, Cols: kmeansCols}
	for i := range m.Data {
		m.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	first := npy.Matrix{Data: m.Data[:kmeansClusters*kmeansCols], Rows: kmeansClusters, Cols: kmeansCols}
	o := kmeans.Options{Clusters: kmeansClusters, Init: &first, Tolerance: -1, MaxIterations: kmeansIterations, Threads: 2}
	for run := range kmeansRuns + 1 {
		lap := stopwatch()
		r, err := kmeans.Fit(context.Background(), m, o)
		if err != nil {
			return s, err
		}
		if run > 0 {
			s.Seconds += lap()
			s.Work += float64(r.Iterations)
		}
		s.Check = fmt.Sprintf("%d iterations, inertia %.3e", r.Iterations, r.Inertia)
	}
	return s, nil
}
