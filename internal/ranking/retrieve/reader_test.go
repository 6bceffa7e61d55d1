package retrieve

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/system/testkit"
)

func tokenizers(t *testing.T) map[string]*subword.Subword {
	t.Helper()
	all := map[string]*subword.Subword{}
	for name, path := range map[string]string{
		"t5":   filepath.Join("..", "..", "..", "assets", "tokenizers", "t5-tokenizer.json.gz"),
		"bart": filepath.Join("..", "..", "model", "subword", "testdata", "bart-tokenizer.json"),
	} {
		tok := testkit.Value(subword.LoadSubword(path))(t)
		t.Cleanup(func() { tok.Close() })
		all[name] = tok
	}
	return all
}

// TestReader: documents and queries are transformers' tokens with the prefixes before them
// (tools/golden/model_inputs.py).
func TestReader(t *testing.T) {
	all := tokenizers(t)
	lines := goldens.Lines[struct {
		Tokenizer, Text string
		Document, Query []int32
		PlainDocument   []int32 `json:"plain_document"`
		PlainQuery      []int32 `json:"plain_query"`
		Long            bool
	}](t, "testdata/inputs.jsonl")
	for _, want := range lines {
		check := func(what string, got, tokens []int32) {
			if !slices.Equal(got, tokens) {
				t.Errorf("%s of %s, %.40q: %v, want %v", what, want.Tokenizer, want.Text, got, tokens)
			}
		}
		tok := all[want.Tokenizer]
		r := testkit.Value(Inputs{32, 64, "index:", "query:", true}.Reader(tok))(t)
		query, truncated := r.Query(want.Text)
		check("document", r.Document(want.Text), want.Document)
		check("query", query, want.Query)
		testkit.Is(t, truncated, want.Long, want.Text)
		r = testkit.Value(Inputs{MaxInput: 32, MaxQuery: 64, Lowercase: true}.Reader(tok))(t)
		query, _ = r.Query(want.Text)
		check("document without a prefix", r.Document(want.Text), want.PlainDocument)
		check("query without a prefix", query, want.PlainQuery)
	}
	if len(lines) < 28 {
		t.Errorf("%d texts", len(lines))
	}
}

// TestPrefixes are the tokens of the released code's.
func TestPrefixes(t *testing.T) {
	r := testkit.Value(Inputs{MaxInput: 1, MaxQuery: 3, IndexPrefix: "index:", QueryPrefix: "query:"}.Reader(tokenizers(t)["t5"]))(t)
	query, truncated := r.Query("the the")
	if document := r.Document("the the"); !slices.Equal(document, []int32{5538, 10, 8, 1}) || !slices.Equal(query, []int32{11417, 10, 8, 1}) || !truncated {
		t.Errorf("document %v, query %v", document, query)
	}
}

func TestReaderErrors(t *testing.T) {
	in := Inputs{MaxInput: 32, MaxQuery: 2, QueryPrefix: "query:"}
	testkit.ErrSays(t, testkit.Err(in.Reader(tokenizers(t)["t5"])), `query_prefix "query:" has 2 tokens, and max_query is 2: at least 3 is needed`)
}
