package subword

import (
	"bytes"
	"compress/gzip"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redsi/redsi/assets/tokenizers"
	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestT5Vocabulary(t *testing.T) {
	tok := testT5(t)
	if tok.VocabSize() != 32_100 || tok.End() != 1 || tok.Unk != 2 {
		t.Errorf("vocab size %d, eos %d, unk %d", tok.VocabSize(), tok.End(), tok.Unk)
	}
	if p, ok := tok.Piece(32_099); !ok || p != "<extra_id_0>" {
		t.Errorf("Piece(32099) = %q, %v", p, ok)
	}
	for _, id := range []int32{-1, 32_100, 140_000} {
		if _, ok := tok.Piece(id); ok {
			t.Errorf("Piece(%d) exists", id)
		}
	}
}

// Figures "semantic" and "naive identifier tokenization", and string prefixes that
// are not token prefixes.
func TestT5Identifiers(t *testing.T) {
	tok := testT5(t)
	for _, c := range []struct {
		text   string
		ids    []int32
		tokens []string
	}{
		{"141913", []int32{968, 2294, 2368, 1}, []string{"▁14", "19", "13", "</s>"}},
		{"18510", []int32{507, 25926, 1}, []string{"▁18", "510", "</s>"}},
		{"0", []int32{3, 632, 1}, []string{"▁", "0", "</s>"}},
		{"1", []int32{209, 1}, []string{"▁1", "</s>"}},
		{"305", []int32{3, 26724, 1}, []string{"▁", "305", "</s>"}},
		{"", []int32{1}, []string{"</s>"}},
	} {
		testkit.Deep(t, tok.Encode(c.text), c.ids, "Encode", c.text)
		testkit.Deep(t, tok.Tokens(c.text), c.tokens, "Tokens", c.text)
		testkit.Is(t, tok.Decode(c.ids, true), c.text, "Decode", c.ids)
		testkit.Is(t, tok.Decode(c.ids, false), c.text+"</s>", c.ids)
	}
	testkit.Is(t, tok.Decode([]int32{968, 32_128, -5}, true), "14", "Decode of ids without text")
}

// Appendix "Whitespace Artifacts and T5 Tokenization". NOTE: the paper prints "'t" for
// the second token of its first list; with the text it quotes that token is "t".
func TestT5WhitespaceAppendix(t *testing.T) {
	tok := testT5(t)
	for _, c := range []struct {
		text string
		skip int // tokens of the text before the quoted part
		want string
	}{
		{"`` matt '' lanter ( born april 1 ,", 2, "▁mat|t|▁|'|'|▁|lant|er|▁(|▁born|▁|a|pri|l|▁1|▁|,|</s>"},
		{`"matt" lanter (born april 1,`, 1, `mat|t|"|▁|lant|er|▁(|born|▁|a|pri|l|▁1,|</s>`},
	} {
		testkit.Is(t, strings.Join(tok.Tokens(c.text)[c.skip:], "|"), c.want, "Tokens", c.text)
	}
}

// TestT5Prefix compares prefixes, which read only the head of a text, with the whole.
func TestT5Prefix(t *testing.T) {
	tok := testT5(t)
	texts := []string{"", "   ", "one", strings.Repeat("a", 5_000), strings.Repeat(" \u0301x", 900), strings.Repeat("word  two\n", 400),
		strings.Repeat("日本 語</s> <extra_id_0>b c ", 100), strings.Repeat("The e\u0301tat ( born 1, 1983 ) is ", 200), strings.Repeat(" ", 3_000) + "a b"}
	for i, l := range golden(t, "testdata/t5.jsonl.gz", 10_000) {
		if len(l.Text) > 100 && i%5 == 0 {
			texts = append(texts, l.Text+" "+l.Text+"\n"+strings.Repeat(l.Text+" and so on ", 20))
		}
	}
	for _, text := range texts {
		all := tok.Pieces(text)
		for _, limit := range []int{1, 2, 32, 64, 100_000} {
			want := all[:min(limit, len(all))]
			if got := tok.PiecesPrefix(text, limit); !slices.Equal(got, want) {
				t.Fatalf("PiecesPrefix(%.80q, %d) = %v, want %v", text, limit, got, want)
			}
			if got, truncated := tok.EncodeTruncated(text, limit+1); !slices.Equal(got, append(slices.Clone(want), 1)) || truncated != (len(all) > limit) {
				t.Fatalf("EncodeTruncated(%.80q, %d) = %v", text, limit+1, got)
			}
		}
	}
	if got, _ := tok.EncodeTruncated("x", 0); got != nil {
		t.Errorf("EncodeTruncated with limit 0 = %v", got)
	}
	testkit.Is(t, len(tok.PiecesPrefix("x", 0)), 0, "PiecesPrefix with limit 0")
}

func TestT5Concurrent(t *testing.T) {
	tok := testT5(t)
	lines := golden(t, "testdata/t5.jsonl.gz", 10_000)[:500]
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, l := range lines {
				if got := tok.Encode(l.Text); !slices.Equal(got, l.IDs) {
					t.Errorf("Encode(%q) = %v, want %v", l.Text, got, l.IDs)
				}
			}
		})
	}
	wg.Wait()
}

func TestT5CloseTwice(t *testing.T) {
	tok := testkit.Value(NewT5(tokenizers.T5))(t)
	for range 2 {
		testkit.None(t, tok.Close())
	}
	defer func() {
		if recover() == nil {
			t.Error("Encode after Close did not panic")
		}
	}()
	tok.Encode("x")
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	zr := testkit.Value(gzip.NewReader(bytes.NewReader(tokenizers.BERTUncased)))(t)
	plain := testkit.Value(io.ReadAll(zr))(t)
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		testkit.Write(t, path, data)
		return path
	}
	bert := write("bert.json", plain)
	t5 := write("t5.json.gz", tokenizers.T5)
	testkit.None(t, testkit.Err(tokenize.LoadBERT(bert)))
	tok := testkit.Value(LoadT5(t5))(t)
	tok.Close()

	for path, want := range map[string]string{
		filepath.Join(dir, "none.json"):             "no such file",
		bert:                                        `its model is "WordPiece", want Unigram`,
		write("empty.json", nil):                    "is empty",
		write("text.json", []byte("<html>")):        "is not a Hugging Face tokenizer.json",
		write("cut.json.gz", tokenizers.T5[:1_000]): "unexpected EOF",
		write("bare.json", []byte(`{"model":{"type":"Unigram","vocab":[["a",0]]}}`)): `no special token "<pad>"`,
	} {
		testkit.ErrSays(t, testkit.Err(LoadT5(path)), want, filepath.Base(path))
	}
	testkit.ErrSays(t, testkit.Err(tokenize.LoadBERT(t5)), `its model is "Unigram", want WordPiece`)
}
