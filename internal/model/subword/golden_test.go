package subword

import (
	"slices"
	"sync"
	"testing"

	"github.com/redsi/redsi/assets/tokenizers"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

// sharedT5 is built once: parsing the vocabulary takes a quarter of a second.
var sharedT5 = sync.OnceValues(func() (*T5, error) { return NewT5(tokenizers.T5) })

func testT5(t testing.TB) *T5 {
	t.Helper()
	return testkit.Value(sharedT5())(t)
}

// goldenLine is one string with what transformers 4.44.1 makes of it
// (tools/golden/t5_tokenizer.py).
type goldenLine struct {
	Text string  `json:"t"`
	IDs  []int32 `json:"i"`
}

func golden(t *testing.T, path string, count int) []goldenLine {
	t.Helper()
	lines := goldens.Lines[goldenLine](t, path)
	if len(lines) != count {
		t.Fatalf("%s: %d lines, want %d", path, len(lines), count)
	}
	return lines
}

func TestT5EqualsTransformers(t *testing.T) {
	tok := testT5(t)
	lines := golden(t, "testdata/t5.jsonl.gz", 10_000)
	texts := lists.Map(lines, func(l goldenLine) string { return l.Text })
	for i, ids := range tok.EncodeBatch(texts) {
		l := lines[i]
		testkit.Deep(t, ids, l.IDs, "Encode", l.Text)
		unknown := slices.Contains(l.IDs, tok.Unk)
		testkit.Is(t, tok.HasUnknown(l.Text), unknown, l.Text, !unknown)
	}
}
