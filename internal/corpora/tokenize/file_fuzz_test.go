package tokenize

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// FuzzTokenizerFile builds BERT's tokenizer from a tokenizer.json, plain or
// compressed, and uses it: a file is refused, or it works.
func FuzzTokenizerFile(f *testing.F) {
	f.Add([]byte(`{"added_tokens":[{"id":0,"content":"[UNK]"},{"id":1,"content":"[CLS]"},{"id":2,"content":"[SEP]"}],"normalizer":{"lowercase":true},` +
		`"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"a":3,"##b":4}}}`))
	f.Add([]byte(`{"model":{"vocab":[]}}`))
	f.Add([]byte(`{"model":{"type":"Unigram","vocab":[["a",0.5]]}}`))
	f.Add([]byte(`{}`))
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"))
	small, err := filepath.Glob(filepath.Join("testdata", "*tokenizer*.json*"))
	testkit.None(f, err)
	for _, path := range small {
		b, err := os.ReadFile(path)
		testkit.None(f, err)
		if len(b) < 1<<16 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tok, err := NewBERT(b)
		if err != nil {
			return
		}
		for _, text := range []string{"", "a", "ab abc é 日本", "\xff"} {
			_ = encode(tok, text, 8)
		}
	})
}
