package docid

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/system/testkit"
)

// scattered is n points around 37 places, the same on every processor.
func scattered(n, cols int) npy.Matrix {
	m := npy.Matrix{Data: make([]float32, n*cols), Rows: n, Cols: cols}
	state := uint32(12345)
	next := func() float32 {
		state = state*1664525 + 1013904223
		return float32(state>>16) / (1 << 16)
	}
	places := make([]float32, 37*cols)
	for i := range places {
		places[i] = 16 * next()
	}
	for i := range m.Data {
		m.Data[i] = places[i/cols%37*cols+i%cols] + next()
	}
	return m
}

// TestSemantic: what is said of the tree, and that threads do not matter; TestSemanticEqualsScikitLearn has the identifiers.
func TestSemantic(t *testing.T) {
	const n = 3_000
	m := scattered(n, 12)
	var mu sync.Mutex
	last := 0
	s, tree, err := Semantic(context.Background(), names(n), m, SemanticOptions{Seed: 7, Progress: func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		last = max(last, done)
		testkit.Is(t, total, n, "total")
	}}, digits)
	testkit.None(t, err)
	testkit.Is(t, last, n, "progress ended at")
	documents, depth := 0, 0
	for i, l := range tree.Leaves {
		documents, depth = documents+l.Documents, max(depth, len(l.Prefix))
		if l.Documents > 100 || i > 0 && strings.HasPrefix(l.Prefix, tree.Leaves[i-1].Prefix) {
			t.Errorf("leaf %+v", l)
		}
		index := 0
		for _, id := range s.Identifiers {
			if rest, below := strings.CutPrefix(id.Text, l.Prefix); below {
				if rest != strconv.Itoa(index) {
					t.Fatalf("leaf %q: index %q, want %d", l.Prefix, rest, index)
				}
				index++
			}
		}
		testkit.Is(t, index, l.Documents, l)
	}
	if documents != n || depth < 2 || tree.Fits < 2 {
		t.Errorf("%d documents in %d leaves, depth %d, %d fits", documents, len(tree.Leaves), depth, tree.Fits)
	}
	one, _, err := Semantic(context.Background(), names(n), m, SemanticOptions{Seed: 7, Threads: 1}, digits)
	testkit.That(t, err == nil && slices.Equal(texts(one), texts(s)), "one thread gives other identifiers", err)
}

func TestSemanticTerminals(t *testing.T) {
	ctx := context.Background()
	// At most LeafSize documents: no prefix at all.
	s, tree, err := Semantic(ctx, names(100), scattered(100, 3), SemanticOptions{}, digits)
	testkit.None(t, err)
	if texts(s)[0] != "0" || texts(s)[99] != "99" || tree.Fits != 0 || tree.Leaves[0].Prefix != "" {
		t.Errorf("100 documents: %v, %+v", texts(s), tree)
	}
	// Equal vectors are dealt in turn.
	m := scattered(450, 3)
	for i := range 300 {
		copy(m.Row(i), m.Row(0))
	}
	s, tree, err = Semantic(ctx, names(450), m, SemanticOptions{}, digits)
	testkit.None(t, err)
	if prefix := strings.TrimSuffix(texts(s)[0], "00"); tree.Dealt != 1 || texts(s)[299] != prefix+"929" || texts(s)[21] != prefix+"12" {
		t.Errorf("%d nodes are dealt, documents 0, 21 and 299 of 300 equal ones are %q, %q and %q", tree.Dealt, texts(s)[0], texts(s)[21], texts(s)[299])
	}
	// A leaf size below the number of clusters.
	if _, tree, err = Semantic(ctx, names(30), scattered(30, 3), SemanticOptions{LeafSize: 1}, digits); err != nil {
		t.Fatal(err)
	}
	testkit.Is(t, len(tree.Leaves), 30)
	if s, _, err = Semantic(ctx, nil, npy.Matrix{Cols: 3}, SemanticOptions{}, digits); err != nil || len(s.Identifiers) != 0 {
		t.Errorf("no documents: %v", err)
	}
}

func TestSemanticErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	bad := scattered(200, 3)
	bad.Data[7] = float32(math.Inf(1))
	for _, c := range []struct {
		n    int
		m    npy.Matrix
		o    SemanticOptions
		want string
	}{
		{3, scattered(2, 3), SemanticOptions{}, "2 embeddings for 3 documents"},
		{200, bad, SemanticOptions{}, "row 2, column 1 is +Inf"},
		{2, npy.Matrix{Rows: 2, Cols: 3}, SemanticOptions{}, "needs 6 numbers"},
	} {
		_, _, err := Semantic(ctx, names(c.n), c.m, c.o, digits)
		testkit.ErrSays(t, err, c.want)
	}
	cancel()
	if _, _, err := Semantic(ctx, names(200), scattered(200, 3), SemanticOptions{}, digits); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
