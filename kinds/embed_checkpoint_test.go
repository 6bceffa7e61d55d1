package kinds_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestEmbedResumes: an embedding that ends between two checkpoints goes on at the
// first, to the bytes of one that was left alone.
func TestEmbedResumes(t *testing.T) {
	var texts []string
	var queries []dedup.Query
	for i := range 2*2048 + 300 {
		texts = append(texts, strings.Repeat(fmt.Sprintf("document %d . ", i), i%3))
		queries = append(queries, dedup.Query{ExampleID: int64(i), Split: nq.Test, Question: texts[i]})
	}
	embedResumes(t, "documents", func(l *local) map[string]any { return map[string]any{"title": false, "corpus": l.corpusOf(texts)} })
	embedResumes(t, "queries", func(l *local) map[string]any {
		return map[string]any{"queries": l.blob("nq/queries", compressed(t, queries)), "split": "test"}
	})
}

func embedResumes(t *testing.T, unit string, of func(*local) map[string]any) {
	l := newLocal(t)
	model := tinyBERT(t)
	embed := func(l *local) (*artifacts.Result, error) {
		tree := of(l)
		maps.Copy(tree, map[string]any{"model": l.tree("files", model), "tokenizer": l.bertTokenizer(), "max_tokens": int64(24), "device": "cpu"})
		return l.do("embed", tree)
	}
	whole, err := embed(l)
	errtest.None(t, err)
	l = newLocal(t)
	store := l.Store
	l.Store = artifacts.Alone(storetest.Hooked(store.Own, storetest.Before(func(_ context.Context, c *storetest.Call) error {
		if c.Method == storetest.RecordsPut && strings.HasSuffix(c.Name, fmt.Sprintf("/%016d", 4096)) {
			return syscall.ENOSPC
		}
		return nil
	})))
	if _, err := embed(l); !endsFull(err, "checkpoint of 4096 "+unit) {
		t.Fatalf("error %v", err)
	}
	l.Store = store
	resumed, err := embed(l)
	errtest.None(t, err)
	if got, want := resumed.Outputs["embeddings"].Digest, whole.Outputs["embeddings"].Digest; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := resumed.Counts; n[unit+"_resumed"] != 2048 || n[unit] != int64(2*2048+300) || n["empty_texts"] != whole.Counts["empty_texts"] {
		t.Errorf("counts %v, want those of %v", n, whole.Counts)
	}
	for info, err := range store.Own.Records.List(context.Background(), "checkpoints/") {
		t.Errorf("left behind: %s, %v", info.Name, err)
	}
}
