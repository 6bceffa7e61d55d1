package pipeline

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Texts of every kind that NFC changes, or joins to what is before.
var texts = []string{
	"", "plain", "né", "e\u0301", "\u212b", "a\u0327\u0301", "a\u0301\u0327", "\u0301starts with a mark", "\u1100\u1161\u11a8", "\u0344",
	"\uf900 \U0002f800", "x\u0302", "é\u0323", "e" + strings.Repeat("\u0301", 70), "\U000b0301", "\U000b0000", "\U000b0000\U000b0301e\u0301",
	"\U000bffff\U000dffff", "\ufeffe\u0301\r\n", "\ufffd", "日本\u3099", "\U0001d15e\U000110ba",
}

func checkCarried(t *testing.T, s string) {
	t.Helper()
	c := carried(s)
	if got := plain(c); got != s {
		t.Errorf("%+q is carried as %+q and becomes %+q", s, c, got)
	}
	if got := norm.NFC.String(c); got != c {
		t.Errorf("%+q is carried as %+q, of which NFC makes %+q", s, c, got)
	}
}

func TestCarried(t *testing.T) {
	for _, s := range texts {
		checkCarried(t, s)
		for _, u := range texts { // what is beside a text joins nothing to it
			both := norm.NFC.String(carried(s) + carried(u))
			if got := plain(both); got != s+u {
				t.Errorf("%+q beside %+q becomes %+q", s, u, got)
			}
		}
	}
	for _, s := range []string{"plain", "né", "x\u0302y", "日本", "\U000e0041", "\U000b0041"} {
		if got := carried(s); got != s {
			t.Errorf("%+q is carried as %+q, though NFC leaves it alone", s, got)
		}
	}
	if got := plain("a\xff\U000b0301"); got != "a\xff\u0301" {
		t.Errorf("bytes that are no text: %q", got)
	}
}

// What the spelling takes for granted of Unicode: all that NFC changes is in the
// planes 0 to 2, and the planes of the spelling have no characters.
func TestPlanesOfTheSpelling(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		if s := string(r); r > 0x2ffff && (norm.NFC.String(s) != s || !norm.NFC.PropertiesString(s).BoundaryBefore()) {
			t.Fatalf("%U is not stable", r)
		}
		if r >= carriedFrom && r <= carriedTo && unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Co) {
			t.Fatalf("%U is assigned", r)
		}
	}
}

func FuzzCarried(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if utf8.ValidString(s) {
			checkCarried(t, s)
		}
	})
}

func TestCarriedEscapes(t *testing.T) {
	for in, want := range map[string]string{
		`e\u0301`: "e\u0301", `\\u0301`: `\\u0301`, `\u00e9 \n \u030`: `\u00e9 \n \u030`, `\U0002f800\`: "\U0002f800\\", `\`: `\`, `\u`: `\u`, `\ud834\udd5e`: `\ud834\udd5e`,
	} {
		if got := plain(carriedEscapes(in)); got != want {
			t.Errorf("%s: %+q, want %+q", in, got, want)
		}
	}
	if got := plainEscapes(`x = "\\U000b0301\U000b0301\u0007"`); got != `x = "\\U000b0301`+"\u0301"+`\u0007"` {
		t.Errorf("%+q", got)
	}
}
