package subword

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// encoded is a text with what tokenizers 0.19.1 makes of it.
type encoded struct {
	Sort, Text, Decoded string
	IDs, Pieces, Short  []int32
}

func (want encoded) compare(t *testing.T, tok *Subword) {
	t.Helper()
	testkit.Deep(t, tok.Encode(want.Text), want.IDs, want.Sort, want.Text)
	if got, truncated := tok.EncodeTruncated(want.Text, 12); !slices.Equal(got, want.Short) || truncated != (len(want.IDs) > 12) {
		t.Errorf("%s: EncodeTruncated(%.60q) = %v, %v, want %v", want.Sort, want.Text, got, truncated, want.Short)
	}
	testkit.Is(t, tok.Decode(want.IDs, true), want.Decoded, want.Sort, want.Text)
}

// Tokenizers of other models give what tokenizers 0.19.1 makes of their files, whatever
// truncation and padding they were saved with (tools/golden/tokenizer_sorts.py).
func TestSortsAreTokenizers(t *testing.T) {
	open, lines := map[string]*Subword{}, map[string]int{}
	for _, want := range goldens.Lines[encoded](t, "testdata/sorts/golden.jsonl.gz") {
		tok := open[want.Sort]
		if tok == nil {
			tok = testkit.Value(LoadSubword(filepath.Join("testdata/sorts", want.Sort+".json")))(t)
			defer tok.Close()
			open[want.Sort] = tok
		}
		lines[want.Sort]++
		want.compare(t, tok)
		if got := tok.PiecesPrefix(want.Text, 5); !slices.Equal(got, want.Pieces[:min(5, len(want.Pieces))]) {
			t.Errorf("%s: PiecesPrefix(%.60q) = %v, want the first of %v", want.Sort, want.Text, got, want.Pieces)
		}
		testkit.Deep(t, tok.WithSpecialTokens(want.Pieces), want.IDs, want.Sort, want.Text)
	}
	testkit.Is(t, open["mt5"].End(), 1)
	for _, sort := range []string{"mt5", "xlm-roberta", "roberta", "bert-cased", "mpnet", "without-words"} {
		if lines[sort] < 150 {
			t.Errorf("%s: %d texts", sort, lines[sort])
		}
	}
}

// TestVersions: of a T5's tokenizer with an added token, each version's file gives that version's ids, which are not the
// same for U+0085 and for blanks about an added token (tools/golden/t5_tokenizer_versions.py).
func TestVersions(t *testing.T) {
	differ := 0
	var all [2][]encoded
	for i, version := range []string{"4.44.1", "5.24.0"} {
		tok := testkit.Value(LoadSubword(filepath.Join("testdata/versions", version+".json")))(t)
		defer tok.Close()
		all[i] = goldens.Lines[encoded](t, filepath.Join("testdata/versions", version+".jsonl"))
		for j, want := range all[i] {
			testkit.Deep(t, tok.Encode(want.Text), want.IDs, version, want.Text)
			if !slices.Equal(want.IDs, all[0][j].IDs) {
				differ++
			}
		}
	}
	if differ == 0 {
		t.Error("the versions do not differ: the test shows nothing")
	}
}

// A tokenizer without words is not cut at blanks, where its tokens may stand across.
func TestPrefixWithoutWords(t *testing.T) {
	tok := testkit.Value(LoadSubword("testdata/sorts/without-words.json"))(t)
	defer tok.Close()
	text := strings.Repeat("tell me of the castle near the river and ", 50)
	across := 0
	whole := tok.Pieces(text)
	for n := 1; n < len(whole); n += 7 {
		if got := tok.PiecesPrefix(text, n); !slices.Equal(got, whole[:n]) {
			t.Fatalf("the first %d are %v, want %v", n, got, whole[:n])
		}
	}
	for _, id := range whole {
		if piece, _ := tok.Piece(id); strings.Contains(strings.TrimPrefix(piece, "▁"), "▁") {
			across++
		}
	}
	if across == 0 {
		t.Error("no token stands across a blank: the test shows nothing")
	}
}

// TestDigits: strings of digits, leading zeros included, have distinct tokens and come back from them in every sort of an
// encoder-decoder's, so unique identifiers stay unique.
func TestDigits(t *testing.T) {
	texts := []string{"141913", "18510"}
	for width, limit := 1, 10; width <= 4; width, limit = width+1, limit*10 {
		for n := range limit {
			texts = append(texts, fmt.Sprintf("%0*d", width, n))
		}
	}
	for _, path := range []string{"../../../assets/tokenizers/t5-tokenizer.json.gz", "testdata/sorts/mt5.json", "testdata/sorts/without-words.json"} {
		tok, of := testkit.Value(LoadSubword(path))(t), map[string]string{}
		defer tok.Close()
		for i, ids := range tok.EncodeBatch(texts) {
			key := fmt.Sprint(ids)
			if other, taken := of[key]; taken {
				t.Fatalf("%s: %q and %q have the same tokens %v", path, texts[i], other, ids)
			}
			of[key] = texts[i]
			if got := tok.Decode(ids, true); got != texts[i] {
				t.Fatalf("%s: %q comes back as %q", path, texts[i], got)
			}
		}
	}
}

// LoadEncoder takes BERT's own tokenizer where it fits, and others as they are.
func TestLoadEncoder(t *testing.T) {
	for path, want := range map[string]bool{
		"../../../assets/tokenizers/bert-base-uncased-tokenizer.json.gz": true,
		"testdata/sorts/bert-cased.json":                                 false,
		"testdata/sorts/mpnet.json":                                      false,
		"testdata/sorts/xlm-roberta.json":                                false,
	} {
		tok := testkit.Value(LoadEncoder(path))(t)
		if _, own := tok.(*tokenize.BERT); own != want {
			t.Errorf("%s is %T", path, tok)
		}
		whole, cut := tok.EncodeTruncated("the castle near the river", 100)
		short, truncated := tok.EncodeTruncated("the castle near the river", 4)
		if cut || !truncated || len(short) != 4 || short[3] != whole[len(whole)-1] || !slices.Equal(short[:3], whole[:3]) {
			t.Errorf("%s: %v and %v", path, whole, short)
		}
		tok.Close()
	}
	testkit.ErrSays(t, testkit.Err(LoadEncoder("testdata/bart.jsonl")), "bart.jsonl")
}
