package tokenize

import (
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// Titles where NCI's key is not simply the lower-cased title (paper, "Comparison Operators").
func TestBERTNormalize(t *testing.T) {
	tok := testBERT(t)
	for title, want := range map[string]string{
		"It Takes a Village":            "it takes a village",
		"The Walking Dead ( season 8 )": "the walking dead ( season 8 )",
		"The Walking Dead (season 8)":   "the walking dead ( season 8 )",
		"1918–19 season":                "1918 – 19 season",
		"1918 -- 19 season":             "1918 - - 19 season",
		"``Heroes''":                    "` ` heroes''",
		"U.S.":                          "u. s.",
		"What 's Up , Doc ?":            "what's up, doc?",
		"Beyoncé":                       "beyonce",
		"":                              "",
		"😀 movie":                       "[UNK] movie",
		"🙃 movie":                       "[UNK] movie",
		strings.Repeat("x", 101):        "[UNK]",
		"a\xffb":                        "ab",
		"a\U0001171e":                   "a",
		"Don't":                         "don't",
		"Don 't":                        "don't",
		"Ke$ha":                         "ke $ ha",
		"🎉 Movie":                       "[UNK] movie",
		"A.B.C.":                        "a. b. c.",
		"[MASK] of Zorro":               "[MASK] of zorro",
		"[mask] of Zorro":               "[ mask ] of zorro",
		"Rock ' n ' Roll":               "rock'n'roll",
		"ruthenium boride":              "ruthenium boride",
		strings.Repeat("a ", 600) + "é\u2028b\u00a0": strings.Repeat("a ", 600) + "e b",
	} {
		testkit.Is(t, tok.Normalize(title), want, "Normalize", title)
	}
}

func encode(b *BERT, text string, limit int) []int32 {
	ids, _ := b.EncodeTruncated(text, limit)
	return ids
}

func TestBERTEncode(t *testing.T) {
	tok := testBERT(t)
	if tok.VocabSize() != 30_522 || tok.cls != 101 || tok.sep != 102 {
		t.Errorf("vocab size %d, cls %d, sep %d", tok.VocabSize(), tok.cls, tok.sep)
	}
	testkit.Deep(t, encode(tok, "", 512), []int32{101, 102}, "EncodeTruncated of nothing")
	long := strings.Repeat("unaffable ", 10_000)
	got := encode(tok, long, 512)
	if len(got) != 512 || got[511] != 102 || !slices.Equal(got[:5], []int32{101, 14477, 20961, 3468, 14477}) {
		t.Errorf("EncodeTruncated of a long text: %d ids, %v … %d", len(got), got[:5], got[511])
	}
	testkit.Deep(t, encode(tok, "unaffable", 3), []int32{101, 14477, 102}, "EncodeTruncated cut within a word")
	defer func() {
		if recover() == nil {
			t.Error("a limit of 1 did not panic")
		}
	}()
	encode(tok, "x", 1)
}

func FuzzBERT(f *testing.F) {
	for _, s := range []string{"", "The Walking Dead (season 8)", "a\x00\xffb", "[UNK]##[SEP]", "e\u0301 日本 \u2028"} {
		f.Add(s)
	}
	tok := testBERT(f)
	f.Fuzz(func(t *testing.T, text string) {
		key := tok.Normalize(text)
		testkit.Is(t, strings.TrimSpace(key), key, "Normalize", text)
		all := encode(tok, text, 1<<20)
		if got := encode(tok, text, 8); !slices.Equal(got[:len(got)-1], all[:len(got)-1]) {
			t.Errorf("EncodeTruncated(%q, 8) = %v is no head of %v", text, got, all)
		}
	})
}
