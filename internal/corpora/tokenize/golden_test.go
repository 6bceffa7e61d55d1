package tokenize

import (
	"sync"
	"testing"

	"github.com/redsi/redsi/assets/tokenizers"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// sharedT5 is built once: parsing the vocabulary takes a quarter of a second.
var sharedBERT = sync.OnceValues(func() (*BERT, error) { return NewBERT(tokenizers.BERTUncased) })

func testBERT(t testing.TB) *BERT {
	t.Helper()
	tok, err := sharedBERT()
	testkit.None(t, err)
	return tok
}

// goldenLine is one string with what transformers 4.44.1 makes of it (tools/golden/t5_tokenizer.py, bert_normalize.py).
type goldenLine struct {
	Text       string  `json:"t"`
	IDs        []int32 `json:"i"`
	Normalized string  `json:"n"`
}

func golden(t *testing.T, path string, count int) []goldenLine {
	t.Helper()
	lines := goldens.Lines[goldenLine](t, path)
	if len(lines) != count {
		t.Fatalf("%s: %d lines, want %d", path, len(lines), count)
	}
	return lines
}

func TestBERTEqualsTransformers(t *testing.T) {
	tok := testBERT(t)
	for _, l := range golden(t, "testdata/bert.jsonl.gz", 5_000) {
		testkit.Is(t, tok.Normalize(l.Text), l.Normalized, "Normalize", l.Text)
		testkit.Deep(t, encode(tok, l.Text, 512), l.IDs, "Encode", l.Text)
	}
}
