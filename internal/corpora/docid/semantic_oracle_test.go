package docid

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext/prng"

	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// semanticSet is identifiers that scikit-learn 1.5.1's KMeans on float64 gives
// (tools/golden/semantic.py), of listed vectors or generated ones.
type semanticSet struct {
	Name       string
	Clusters   int
	LeafSize   int `json:"leaf_size"`
	Vectors    [][]float32
	Rows, Cols int
	Seed       uint64
	Distinct   int
	Texts      string
	Dealt      int
}

// matrix repeats the script's generator.
func (s *semanticSet) matrix() npy.Matrix {
	if s.Vectors != nil {
		m := npy.Matrix{Rows: len(s.Vectors), Cols: len(s.Vectors[0])}
		for _, v := range s.Vectors {
			m.Data = append(m.Data, v...)
		}
		return m
	}
	source := prng.NewMT19937()
	source.Seed(s.Seed)
	uniform := func() float64 {
		a, b := source.Uint32()>>5, source.Uint32()>>6
		return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
	}
	x, at := make([]float64, s.Rows*s.Cols), make([]float64, 25*s.Cols)
	for i := range x {
		x[i] = uniform()
	}
	for i := range at {
		at[i] = uniform() * 4
	}
	m := npy.Matrix{Data: make([]float32, len(x)), Rows: s.Rows, Cols: s.Cols}
	for i := range x {
		row := i / s.Cols
		if s.Distinct > 0 {
			row = row * 7 % s.Distinct
		}
		m.Data[i] = float32(x[row*s.Cols+i%s.Cols] + at[row%25*s.Cols+i%s.Cols])
	}
	return m
}

// TestSemanticEqualsScikitLearn: full identifiers, of trees with a seed for every node
// and of equal vectors that are dealt in turn.
func TestSemanticEqualsScikitLearn(t *testing.T) {
	var sets []semanticSet
	goldens.JSON(t, "testdata/semantic.json.gz", &sets)
	for _, c := range sets {
		m := c.matrix()
		s, tree, err := Semantic(t.Context(), names(m.Rows), m, SemanticOptions{Clusters: c.Clusters, LeafSize: c.LeafSize, Seed: 42}, digits)
		testkit.None(t, err)
		want := strings.Fields(c.Texts)
		differ, first := 0, -1
		for i, text := range texts(s) {
			if text != want[i] {
				if differ++; differ == 1 {
					first = i
				}
			}
		}
		if differ > 0 {
			t.Errorf("%s: %d of %d identifiers differ, the first is %q, want %q", c.Name, differ, m.Rows, texts(s)[first], want[first])
		}
		testkit.Is(t, tree.Dealt, c.Dealt, c.Name)
	}
}
