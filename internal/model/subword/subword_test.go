package subword

import (
	"encoding/json"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// A byte-level BPE as BART's gives transformers 4.44.1's tokens (tools/golden/bart_tokenizer.py).
func TestBARTIsTransformers(t *testing.T) {
	tok := testkit.Value(LoadSubword("testdata/bart-tokenizer.json"))(t)
	defer tok.Close()
	lines := goldens.Lines[encoded](t, "testdata/bart.jsonl")
	for _, want := range lines {
		want.compare(t, tok)
	}
	testkit.That(t, len(lines) >= 20 && tok.VocabSize() == 600, len(lines), "texts", tok.VocabSize(), "tokens")
	if piece, _ := tok.Piece(2); piece != "</s>" {
		t.Errorf("token 2 is %q", piece)
	}
}

func TestSubwordErrors(t *testing.T) {
	var file map[string]any
	goldens.JSON(t, "testdata/bart-tokenizer.json", &file)
	file["post_processor"] = nil
	bare := testkit.Value(json.Marshal(file))(t)
	for want, data := range map[string]string{
		"puts no end token after a text": string(bare),
		`its model is "", want Unigram`:  `{}`,
		"is not a map of pieces":         `{"model":{"type":"BPE","vocab":[]}}`,
		"has id 7, outside of 0..0":      `{"model":{"type":"BPE","vocab":{"a":7}}}`,
	} {
		testkit.ErrSays(t, testkit.Err(NewSubword([]byte(data))), want)
	}
}
