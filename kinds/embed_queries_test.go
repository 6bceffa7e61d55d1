package kinds_test

import (
	"bytes"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/errtest"
)

// splitQueries are queries of three splits, of which one has two documents.
func splitQueries() []dedup.Query {
	return []dedup.Query{
		{ExampleID: 7, Split: nq.Train, Question: "who trains", Doc: 0},
		{ExampleID: 9, Split: nq.Dev, Question: "who was first", Doc: 1},
		{ExampleID: 9, Split: nq.Dev, Question: "who was first", Doc: 0},
		{ExampleID: 8, Split: nq.Dev, Question: "what came second", Doc: 1},
		{ExampleID: 3, Split: nq.Test, Question: "is this the test", Doc: 0},
	}
}

func (l *local) vectors(res *artifacts.Result) npy.Matrix {
	l.t.Helper()
	m, err := npy.Read(bytes.NewReader(l.bytes(res.Outputs["embeddings"])))
	errtest.None(l.t, err)
	return m
}

// TestEmbedQueries: the rows of a split's queries are what the same texts have as documents,
// one for each query, in their order.
func TestEmbedQueries(t *testing.T) {
	l := newLocal(t)
	queries := l.blob("nq/queries", compressed(t, splitQueries()))
	for kind, config := range map[string]map[string]any{
		"embed":         {"model": l.tree("files", tinyBERT(t)), "tokenizer": l.bertTokenizer(), "max_tokens": int64(24), "device": "cpu"},
		"embed_hashing": {},
	} {
		do := func(tree map[string]any) *artifacts.Result {
			t.Helper()
			maps.Copy(tree, config)
			res, err := l.do(kind, tree)
			errtest.None(t, err)
			return res
		}
		for split, texts := range map[string][]string{"dev": {"who was first", "what came second"}, "test": {"is this the test"}} {
			got := do(map[string]any{"queries": queries, "split": split})
			want := do(map[string]any{"title": false, "corpus": l.corpusOf(texts)})
			if got.Outputs["embeddings"].Digest != want.Outputs["embeddings"].Digest {
				t.Errorf("%s: the %s queries' vectors are not those of their texts", kind, split)
			}
			if n := got.Counts["queries"]; n != int64(len(texts)) {
				t.Errorf("%s: counts %v", kind, got.Counts)
			}
		}
		spec := l.Registry.Lookup(kind)
		for want, tree := range map[string]map[string]any{
			"corpus: set either corpus or queries": {},
			"queries: and corpus are both given":   {"queries": queries, "corpus": l.corpusOf(nil)},
			"documents: applies only to a corpus":  {"queries": queries, "documents": l.collectionOf("a")},
			`"train", "dev", "test"`:               {"queries": queries, "split": "eval"},
		} {
			maps.Copy(tree, config)
			errtest.Says(t, errtest.Of(spec.Complete(tree)), want)
		}
		only := l.blob("nq/queries", compressed(t, splitQueries()[:1]))
		tree := map[string]any{"queries": only}
		maps.Copy(tree, config)
		if _, err := l.do(kind, tree); err == nil || !strings.Contains(err.Error(), "there are no dev queries") {
			t.Errorf("%s of no query: %v", kind, err)
		}
	}
}

// TestEmbedOptions: a prefix is text before the text, and normalized vectors are the others
// in unit length.
func TestEmbedOptions(t *testing.T) {
	l := newLocal(t)
	queries := l.blob("nq/queries", compressed(t, splitQueries()))
	embed := func(tree map[string]any) npy.Matrix {
		t.Helper()
		maps.Copy(tree, map[string]any{"model": l.tree("files", tinyBERT(t)), "tokenizer": l.bertTokenizer(), "max_tokens": int64(24), "device": "cpu"})
		res, err := l.do("embed", tree)
		errtest.None(t, err)
		return l.vectors(res)
	}
	plain := embed(map[string]any{"title": false, "corpus": l.corpusOf([]string{"query: who was first", "query: what came second"}), "pooling": "mean"})
	got := embed(map[string]any{"queries": queries, "prefix": "query: ", "pooling": "mean", "normalize": true})
	for row := range got.Rows {
		norm, of := 0.0, plain.Data[row*plain.Cols:(row+1)*plain.Cols]
		for _, v := range of {
			norm += float64(v) * float64(v)
		}
		for i, v := range of {
			if d := math.Abs(float64(v)/math.Sqrt(norm) - float64(got.Data[row*got.Cols+i])); d > 1e-6 {
				t.Fatalf("row %d, number %d is %g apart", row, i, d)
			}
		}
	}
}
