package docid

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/system/testkit"
)

var residual = ResidualOptions{Levels: 3, Codes: 20, FirstToken: 1000, EOS: 1, Seed: 7}

// TestResidualLevels: each level is the k-means that Fit makes of what is left.
func TestResidualLevels(t *testing.T) {
	const n = 400
	m := scattered(n, 5)
	one := residual
	one.Threads = 1
	s, q, err := Residual(t.Context(), names(n), m, one)
	testkit.None(t, err)
	many, _, err := Residual(t.Context(), names(n), m, residual)
	testkit.That(t, err == nil && slices.Equal(texts(many), texts(s)), "all processors give other identifiers", err)
	for level := range residual.Levels {
		fit, err := kmeans.Fit(t.Context(), m, kmeans.Options{Clusters: residual.Codes, Seed: residual.Seed})
		testkit.None(t, err)
		if got := q.Levels[level]; got.Codes != residual.Codes || math.Abs(got.SquaredError-fit.Inertia/n) > 1e-3*got.SquaredError {
			t.Errorf("level %d: %+v, want an error of %g", level, got, fit.Inertia/n)
		}
		code := map[int32]string{} // of a cluster
		for i, label := range fit.Labels {
			c := strings.Split(s.Identifiers[i].Text, "-")[level]
			if was, ok := code[label]; ok && was != c {
				t.Fatalf("level %d: document %d of cluster %d has code %s, another has %s", level, i, label, c, was)
			}
			code[label] = c
			for j, v := range fit.Centres.Row(int(label)) {
				m.Row(i)[j] -= v
			}
		}
	}
}

// TestResidualFew: fewer documents, or distinct vectors, than codes.
func TestResidualFew(t *testing.T) {
	equal := npy.Matrix{Data: []float32{1, 2, 1, 2, 1, 2, 5, 5}, Rows: 4, Cols: 2}
	s, q, err := Residual(t.Context(), names(4), equal, residual)
	testkit.None(t, err)
	if got, want := texts(s), []string{"0-0-0-0", "0-0-0-1", "0-0-0-2", "1-0-0"}; !slices.Equal(got, want) {
		t.Errorf("identifiers %v, want %v", got, want)
	}
	for i, want := range [][]int32{{1000, 1020, 1040, 1060, 1}, {1000, 1020, 1040, 1061, 1}, {1000, 1020, 1040, 1062, 1}, {1001, 1020, 1040, 1}} {
		testkit.Deep(t, s.Identifiers[i].Tokens, want, i)
	}
	if q.Levels[0] != (QuantizationLevel{2, 0}) || q.Levels[2] != (QuantizationLevel{1, 0}) || q.Colliding != 3 || q.Collisions != 1 || q.LargestGroup != 3 {
		t.Errorf("quantization %+v", q)
	}
	if s, q, err := Residual(t.Context(), nil, npy.Matrix{Cols: 2}, residual); err != nil || len(s.Identifiers) != 0 || q.LargestGroup != 0 {
		t.Errorf("no documents: %+v, %v", q, err)
	}
}

func TestResidualErrors(t *testing.T) {
	bad := scattered(200, 3)
	bad.Data[7] = float32(math.NaN())
	with := func(change func(*ResidualOptions)) ResidualOptions {
		o := residual
		change(&o)
		return o
	}
	for _, c := range []struct {
		n    int
		m    npy.Matrix
		o    ResidualOptions
		want string
	}{
		{3, scattered(2, 3), residual, "residual identifiers: 2 embeddings for 3 documents"},
		{200, bad, residual, "row 2, column 1 is NaN"},
		{2, scattered(2, 3), with(func(o *ResidualOptions) { o.Codes = 1 << 30 }), "do not fit 31 bits"},
	} {
		_, _, err := Residual(t.Context(), names(c.n), c.m, c.o)
		testkit.ErrSays(t, err, c.want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Residual(ctx, names(200), scattered(200, 3), residual); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
