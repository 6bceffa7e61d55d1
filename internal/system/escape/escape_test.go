package escape

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"plain text, “quoted” – 漢字 😀": "plain text, “quoted” – 漢字 😀",
		`C:\new\x1b`:               `C:\new\x1b`,
		"a\nb\tc\rd":               `a\nb\tc\rd`,
		"\x1b[31mred\x1b[0m":       `\x1b[31mred\x1b[0m`,
		"\x1b]52;c;YWJj\a":         `\x1b]52;c;YWJj\a`,
		"\u009b2J":                 `\u009b2J`,
		"\x9b2J":                   `\x9b2J`,
		"del\x7f nul\x00":          `del\x7f nul\x00`,
		"abc\u202etxt.exe\u2066":   `abc\u202etxt.exe\u2066`,
		"\u2028\u2029\ufeff\u200e": `\u2028\u2029\ufeff\u200e`,
		"\U000e0041tag":            `\U000e0041tag`,
		"نمی‌خواهم 👩‍🔬":            "نمی‌خواهم 👩‍🔬", // joiners are how these are written
		"\ufffd":                   "\ufffd",
		"cut \xe2\x82":             `cut \xe2\x82`,
	} {
		testkit.Is(t, Line(in), want, in)
	}
	if got, want := Text("a\n\tb\r\x1b"), "a\n\tb"+`\r\x1b`; got != want {
		t.Errorf("Text: %q, want %q", got, want)
	}
}

func TestJSON(t *testing.T) {
	in := map[string]string{"a\u009bb": "\u202e \U000e0041 \u007f \u2028 漢字 \x1b\n"}
	plain, err := json.MarshalIndent(in, "", "\t")
	testkit.None(t, err)
	got := JSON(plain)
	var back map[string]string
	if err := json.Unmarshal(got, &back); err != nil || back["a\u009bb"] != in["a\u009bb"] {
		t.Errorf("%s: %q, %v", got, back, err)
	}
	if bytes.ContainsFunc(got, unsafeInText) {
		t.Errorf("%q has characters that a terminal obeys", got)
	}
}

// FuzzEscape: what is shown has nothing that a terminal obeys, is as it was where
// there was nothing, and is the same if escaped again; a copy in pieces is the same.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b]0;title\a", "\u009b2J\x9b", "\u202eabc\u2069", "a\r\nb\tc", "\xff\xfe\xe2\x82", "😀\U000e0001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line, text := Line(s), Text(s)
		if strings.ContainsFunc(line, Unsafe) || strings.ContainsFunc(text, unsafeInText) {
			t.Errorf("%q: shown as %q, %q", s, line, text)
		}
		if Line(line) != line || Text(text) != text || Line(text) != line {
			t.Errorf("%q: escaped twice is not escaped once", s)
		}
		if c := Controls(s); strings.ContainsFunc(c, unicode.IsControl) || Controls(c) != c || strings.ToValidUTF8(c, "") != c {
			t.Errorf("%q: in a file %q", s, c)
		}
		testkit.Is(t, strings.ToValidUTF8(line, ""), line, s)
		var b bytes.Buffer
		if err := Copy(&b, iotest.OneByteReader(strings.NewReader(s))); err != nil || b.String() != text {
			t.Errorf("%q: copied as %q, %v; want %q", s, b.String(), err, text)
		}
		doc, err := json.Marshal(s)
		testkit.None(t, err)
		var want, got string
		if json.Unmarshal(doc, &want) != nil || json.Unmarshal(JSON(doc), &got) != nil || got != want {
			t.Errorf("%s as JSON: %s", doc, JSON(doc))
		}
	})
}
