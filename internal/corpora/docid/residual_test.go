package docid

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/system/errtest"
)

var residual = ResidualOptions{Levels: 3, Codes: 20, FirstToken: 1000, EOS: 1, Seed: 7}

// TestResidual recomputes everything in float64 from the codes alone. The centre of a
// code is the mean of what is left of its documents, as k-means that converged has it,
// and no other centre of the level is nearer.
func TestResidual(t *testing.T) {
	const n, cols = 1500, 12
	m := scattered(n, cols)
	copy(m.Row(9), m.Row(700)) // equal vectors have equal codes
	s, q, err := Residual(t.Context(), names(n), m, residual)
	errtest.None(t, err)
	left := make([]float64, len(m.Data))
	for i, v := range m.Data {
		left[i] = float64(v)
	}
	codes := make([][]string, n)
	for i, id := range s.Identifiers {
		codes[i] = strings.Split(id.Text, "-")
	}
	if got := strings.Join(codes[0][:3], "-"); got != "0-0-0" {
		t.Errorf("the first document has the codes %s", got)
	}
	before := math.Inf(1)
	for level := range residual.Levels {
		sums, counts := map[string][]float64{}, map[string]float64{}
		for i := range n {
			code := codes[i][level]
			if counts[code]++; counts[code] == 1 {
				sums[code] = make([]float64, cols)
			}
			for j, v := range left[i*cols : (i+1)*cols] {
				sums[code][j] += v
			}
		}
		distance := func(row []float64, code string) (d float64) {
			for j, v := range row {
				d += (v - sums[code][j]/counts[code]) * (v - sums[code][j]/counts[code])
			}
			return d
		}
		squares := 0.0
		for i := range n {
			row := left[i*cols : (i+1)*cols]
			own := distance(row, codes[i][level])
			for other := range sums {
				if d := distance(row, other); d < own*(1-1e-3) {
					t.Errorf("level %d: document %d has code %s at %g, code %s is at %g", level, i, codes[i][level], own, other, d)
				}
			}
			squares += own
			for j := range row {
				row[j] -= sums[codes[i][level]][j] / counts[codes[i][level]]
			}
		}
		got := q.Levels[level]
		if got.Codes != len(sums) || got.Codes != residual.Codes || math.Abs(got.SquaredError-squares/n) > 1e-3*got.SquaredError {
			t.Errorf("level %d: %+v, recomputed %d codes and an error of %g", level, got, len(sums), squares/n)
		}
		if got.SquaredError >= before {
			t.Errorf("level %d has the error %g, the one before it %g", level, got.SquaredError, before)
		}
		before = got.SquaredError
	}

	groups := map[string][]int{}
	for i := range n {
		key := strings.Join(codes[i][:3], "-")
		groups[key] = append(groups[key], i)
	}
	var want Quantization
	for _, members := range groups {
		want.LargestGroup = max(want.LargestGroup, len(members))
		if len(members) > 1 {
			want.Collisions++
			want.Colliding += len(members)
		}
		for place, i := range members {
			var spelt []string
			if len(members) > 1 {
				spelt = []string{strconv.Itoa(place)}
			}
			if !slices.Equal(codes[i][3:], spelt) {
				t.Errorf("document %d of %v is %v", i, members, codes[i])
			}
			var tokens []int32
			for level, code := range codes[i] {
				c, err := strconv.Atoi(code)
				if err != nil || c < 0 || level < 3 && c >= residual.Codes {
					t.Errorf("document %d is %v", i, codes[i])
				}
				tokens = append(tokens, int32(1000+20*level+c))
			}
			if got := s.Identifiers[i].Tokens; !slices.Equal(got, append(tokens, 1)) {
				t.Errorf("document %d, %v, is tokens %v", i, codes[i], got)
			}
		}
	}
	if q.Collisions != want.Collisions || q.Colliding != want.Colliding || q.LargestGroup != want.LargestGroup || want.Collisions == 0 {
		t.Errorf("collisions %+v, counted %+v", q, want)
	}
	if first, last := s.TokenRange(); first != 1000 || int(last) != 1000+60+q.LargestGroup-1 {
		t.Errorf("tokens %d to %d of groups of at most %d", first, last, q.LargestGroup)
	}
	if _, err := NewTrie(s.Sequences()); err != nil {
		t.Error(err)
	}
}

// TestResidualLevels: each level is the k-means that Fit makes of what is left.
func TestResidualLevels(t *testing.T) {
	const n = 400
	m := scattered(n, 5)
	one := residual
	one.Threads = 1
	s, _, err := Residual(t.Context(), names(n), m, one)
	errtest.None(t, err)
	many, _, err := Residual(t.Context(), names(n), m, residual)
	if err != nil || !slices.Equal(texts(many), texts(s)) {
		t.Errorf("all processors give other identifiers: %v", err)
	}
	for level := range residual.Levels {
		fit, err := kmeans.Fit(t.Context(), m, kmeans.Options{Clusters: residual.Codes, Seed: residual.Seed})
		errtest.None(t, err)
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
	errtest.None(t, err)
	if got, want := texts(s), []string{"0-0-0-0", "0-0-0-1", "0-0-0-2", "1-0-0"}; !slices.Equal(got, want) {
		t.Errorf("identifiers %v, want %v", got, want)
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
		if _, _, err := Residual(t.Context(), names(c.n), c.m, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Residual(ctx, names(200), scattered(200, 3), residual); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
