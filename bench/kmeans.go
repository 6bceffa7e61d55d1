package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/ranking/dense"
	"github.com/redsi/redsi/internal/ranking/topk"
)

// The k-means problem of the paper's semantic identifiers, one node of the tree.
const (
	kmeansRows, kmeansCols  = 20_000, 512
	kmeansClusters          = 10
	kmeansIterations        = 60
	kmeansRuns              = 3
	flatQueries, flatDepth  = 2000, 100
	vectorsName, vectorFile = "vectors1", "vectors.f32"
)

var kmeansLines = []line{{
	name: "kmeans_vs_sklearn", takes: 20, target: 0.5, value: perUnit,
	doc:  "one Lloyd iteration on 20,000 x 512 vectors, k=10, same start, 2 threads",
	ours: pieceOn("kmeans", (*env).vectors),
	peer: fittedBy("sklearn"), others: []side{fittedBy("faiss")},
}, {
	name: "flat_vs_faiss", takes: 6, target: 0.95, value: perUnit,
	doc:  "a query's 100 greatest inner products with 20,000 x 512 vectors, 2,000 queries together, 2 threads",
	ours: pieceOn("flat", (*env).vectors),
	peer: scriptOn(small, "flat.py", (*env).vectors, strconv.Itoa(flatQueries), strconv.Itoa(flatDepth)),
}}

func fittedBy(peer string) side {
	return scriptOn(small, "kmeans.py", (*env).vectors, "--by", peer, "--threads", "2", "--runs", strconv.Itoa(kmeansRuns), "--iterations", strconv.Itoa(kmeansIterations))
}

// vectors is the file that both sides cluster.
func (e *env) vectors() (string, error) {
	dir, err := e.keepPiece(vectorsName, "make-vectors")
	return filepath.Join(dir, vectorFile), err
}

// makeVectors writes numbers of a bell shape: sums of three uniform ones.
func makeVectors(args []string) (sample, error) {
	var b []byte
	rng := rand.New(rand.NewPCG(1, 1))
	for range kmeansRows * kmeansCols {
		v := float32(rng.Float64() + rng.Float64() + rng.Float64() - 1.5)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return sample{}, os.WriteFile(filepath.Join(args[0], vectorFile), b, 0o644)
}

func readVectors(file string) (npy.Matrix, error) {
	b, err := os.ReadFile(file)
	m := npy.Matrix{Data: make([]float32, len(b)/4), Rows: kmeansRows, Cols: kmeansCols}
	for i := range m.Data {
		m.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return m, err
}

// searchVectors searches the file with its first vectors twice, and measures the second time.
func searchVectors(args []string) (s sample, err error) {
	m, err := readVectors(args[0])
	if err != nil {
		return s, err
	}
	queries := npy.Matrix{Data: m.Data[:flatQueries*kmeansCols], Rows: flatQueries, Cols: kmeansCols}
	var found [][]topk.Hit
	for range 2 {
		lap, rows := stopwatch(), m.Data
		read := func(to []float32) error {
			rows = rows[copy(to, rows):]
			return nil
		}
		if found, err = dense.Search(context.Background(), read, m.Rows, queries, dense.Options{Depth: flatDepth}); err != nil {
			return s, err
		}
		s.Seconds = lap()
	}
	documents, products := 0, 0.0
	for i, hits := range found {
		for _, h := range hits {
			products += h.Score
			if i < 3 {
				documents += int(h.Doc)
			}
		}
	}
	s.Work, s.Check = flatQueries, fmt.Sprintf("documents %d, products %.3e", documents, products)
	return s, nil
}

// clusterVectors fits the file several times after a first, and reports iterations.
func clusterVectors(args []string) (s sample, err error) {
	m, err := readVectors(args[0])
	if err != nil {
		return s, err
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
		s.Check = fmt.Sprintf("inertia %.3e, %d iterations", r.Inertia, r.Iterations)
	}
	return s, nil
}
