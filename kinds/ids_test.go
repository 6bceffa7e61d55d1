package kinds_test

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestIdentifierOptions: what the attributes of kinds of identifiers say reaches them.
func TestIdentifierOptions(t *testing.T) {
	l := newLocal(t)
	titles := make([]string, 30)
	vectors := npy.Matrix{Rows: len(titles), Cols: 1, Data: make([]float32, len(titles))}
	for i := range titles {
		titles[i] = strconv.Itoa(i)
		vectors.Data[i] = float32(i * i % 17)
	}
	var saved bytes.Buffer
	errtest.None(t, npy.Write(&saved, vectors))
	documents, embeddings := l.collectionOf(titles...), l.blob("docid/embeddings", saved.Bytes())
	tokenizer := l.blob("files", readFile(t, fewerTokens(t, 3000)))
	made := func(kind string, config map[string]any) (*docid.Set, error) {
		config["documents"] = documents
		if kind != "atomic_ids" {
			config["tokenizer"] = tokenizer
		}
		if kind == "semantic_ids" {
			config["embeddings"], config["leaf_size"], config["clusters"] = embeddings, int64(2), int64(3)
		}
		res, err := l.do(kind, config)
		if err != nil {
			return nil, err
		}
		return docid.Read(bytes.NewReader(l.bytes(res.Outputs["ids"])))
	}
	texts := func(kind string, config map[string]any) string {
		t.Helper()
		s, err := made(kind, config)
		errtest.None(t, err)
		var all []string
		for _, id := range s.Identifiers {
			all = append(all, id.Text)
		}
		return strings.Join(all, " ")
	}

	for _, c := range []struct {
		config map[string]any
		last   docid.Identifier
	}{
		{map[string]any{}, docid.Identifier{Document: "29", Text: "<doc_29>", Tokens: []int32{32_129}}},
		{map[string]any{"eos": true}, docid.Identifier{Document: "29", Text: "<doc_29>", Tokens: []int32{32_129, 1}}},
		{map[string]any{"eos": true, "eos_token": int64(2), "first_token": int64(50_265)}, docid.Identifier{Document: "29", Text: "<doc_29>", Tokens: []int32{50_294, 2}}},
	} {
		s, err := made("atomic_ids", c.config)
		errtest.None(t, err)
		if got := s.Identifiers[29]; got.Text != c.last.Text || !slices.Equal(got.Tokens, c.last.Tokens) {
			t.Errorf("atomic: %+v, want %+v", got, c.last)
		}
	}

	python := texts("naive_ids", map[string]any{"times": 1.01}) // 30.3: 31 numbers
	if python != texts("naive_ids", map[string]any{"budget": int64(31)}) || python == texts("naive_ids", map[string]any{"budget": int64(30)}) {
		t.Error("naive: 1.01 x 30 documents are not 31 numbers")
	}
	if pcg := texts("naive_ids", map[string]any{"budget": int64(31), "generator": "pcg"}); pcg == python {
		t.Error("naive: both generators give the same numbers")
	}

	derived := texts("semantic_ids", map[string]any{})
	if derived == texts("semantic_ids", map[string]any{"node_seeds": "same"}) {
		t.Error("semantic: seeds of nodes change nothing")
	}
	for _, config := range []map[string]any{{"precision": "float32"}, {"n_init": int64(5)}, {"max_iter": int64(1)}, {"tol": 0.0}} {
		texts("semantic_ids", config)
	}

	for kind, mistakes := range map[string][]map[string]any{
		"atomic_ids":   {{"first_token": int64(-1)}, {"eos_token": int64(32_100)}, {"first_token": int64(1) << 31}},
		"naive_ids":    {{"budget": int64(30), "generator": "numpy"}},
		"semantic_ids": {{"seed": int64(1) << 32}, {"n_init": int64(0)}, {"max_iter": int64(0)}, {"tol": -1.0}, {"node_seeds": "random"}, {"precision": "float16"}},
	} {
		for _, config := range mistakes {
			name := fmt.Sprint(config)
			config["documents"] = documents
			if kind != "atomic_ids" {
				config["tokenizer"] = []any{tokenizer}
			}
			if kind == "semantic_ids" {
				config["embeddings"] = embeddings
			}
			if _, err := l.Registry.Lookup(kind).Complete(config); err == nil || strings.Contains(err.Error(), "required") {
				t.Errorf("%s took %s: %v", kind, name, err)
			}
		}
	}
}
