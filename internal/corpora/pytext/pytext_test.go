package pytext

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// Expected values are Python 3.11's.
func TestLower(t *testing.T) {
	for in, want := range map[string]string{
		"":               "",
		"ABC Ü":          "abc ü",
		"İI":             "i\u0307i",
		"ΟΔΥΣΣΕΥΣ":       "οδυσσευς",
		"ΣΑΣ. Σ":         "σας. σ",
		"ΑΣ'Α ΑΣ'":       "ασ'α ας'",
		"A\u0301Σ\u0301": "a\u0301ς\u0301",
		"ẞ Ǆ":            "ß ǆ",
		"ⅣΣ":             "ⅳς",
		"1Σ":             "1σ",
		"ʕΣ":             "ʕς",
		"ΑΣ·Α":           "ασ·α",
	} {
		testkit.Is(t, Lower(in), want, in)
	}
}

// Expected values are Python 3.13's.
func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "",
		"a&amp;b &lt;&#60;&#x3c; &notit;": "a&b <<< ¬it;",
		"a&#1;b&#xfdd0;c&#11;d&#127;":     "abcd",
		"&&#1;amp;":                       "&amp;",
		"&#x80;&#x81;&#0;&#13;&#9;":       "€\u0081\ufffd\r\t",
		"&#xd800;&#x110000;&#xFFFE;&#12;&#x1FFFf": "\ufffd\ufffd\f",
		"&#;&#65": "&#;A",
	} {
		testkit.Is(t, Unescape(in), want, in)
	}
}
