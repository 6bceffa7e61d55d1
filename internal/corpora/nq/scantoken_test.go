package nq

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// TestTokenLayouts: a token in whatever layout, among published ones, is read as the library reads it.
func TestTokenLayouts(t *testing.T) {
	layout := func(end, html, start, text string) string {
		return `{"end_byte": ` + end + `, "html_token": ` + html + `, "start_byte": ` + start + `, "token": "` + text + `"}`
	}
	usual := layout("4", "false", "0", "a")
	must := []string{
		usual,
		layout("1234567", "true", "1234560", "</Table>"),
		layout("12345678", "true", "0", "x"),
		layout("2147483647", "false", "123456789", "x"),
		layout("0", "true", "0", ""),
		layout("4", "false", "0", "seven77"),
		layout("4", "false", "0", "eight888"),
		layout("4", "false", "0", strings.Repeat("long é ", 40)),
		layout("4", "false", "0", `\"`),
		layout("4", "false", "0", `1234567\"`),
		layout("4", "false", "0", `\u00e9\ud83d\ude00\\`),
		layout("4", "false", "0", `"}, {\"end_byte\": `[1:]),
		layout("4", "false", "0", `\"}, \"`),
		strings.ReplaceAll(usual, `: `, `:`),
		strings.ReplaceAll(usual, `, `, `,`),
		strings.ReplaceAll(usual, ` `, "  "),
		strings.ReplaceAll(usual, ` `, "\n"),
		usual[:len(usual)-1] + ` }`,
		usual[:len(usual)-1] + `, "more": [1.5, {"token": "b"}]}`,
		`{"token": "a", "start_byte": 0, "html_token": false, "end_byte": 4}`,
	}
	mustNot := []string{
		layout("04", "false", "0", "a"),
		layout("4", "false", "00", "a"),
		layout("-0", "false", "1e1", "a"),
		layout("4.0", "false", "0", "a"),
		layout("", "false", "0", "a"),
		layout("4", "truf", "0", "a"),
		layout("4", "falsy", "0", "a"),
		layout("4", "null", "0", "a"),
		layout("4", "tfalse", "0", "a"),
		layout("4", "false", "0", "a\tb"),
		layout("4", "false", "0", `\ud83d`),
		layout("4", "false", "0", `\x`),
		layout("4", "false", "0", `a"`),
		layout("4", `false, "html_token": false`, "0", "a"),
		strings.Replace(usual, `, "token": "a"`, "", 1),
	}
	var scan lineScanner
	for i, token := range append(must, mustNot...) {
		for _, tokens := range []string{token, usual + ", " + token, token + ", " + usual, token + "," + usual, usual + ", " + token + ", " + usual} {
			for _, tail := range []string{"", `, "x": "` + strings.Repeat("y", publishedRoom) + `"`} {
				line := `{"document_html": "h", "document_tokens": [` + tokens + `]` + tail + `}`
				compareDecoders(t, &scan, []byte(line), i < len(must))
			}
		}
	}
	// Cut anywhere, the line is refused, and nothing behind its end is read.
	line := []byte(`{"document_tokens": [` + strings.Repeat(usual+", ", 3) + usual + `]}`)
	for n := range line {
		compareDecoders(t, &scan, bytes.Clone(line[:n]), false)
	}
}

func TestDigits(t *testing.T) {
	for v := 0; v < 1e7; v += 1 + v/100 {
		s := fmt.Sprint(v)
		for _, behind := range []string{",", "}", " ", "/", ":", "\xff", "\x00"} {
			got, n := digits(binary.LittleEndian.Uint64([]byte(s + strings.Repeat(behind, 8))))
			if int(got) != v || n != len(s) {
				t.Fatalf("%s%s: %d, %d digits", s, behind, got, n)
			}
		}
	}
	for _, s := range []string{"12345678", "00,,,,,,", "01,,,,,,", ",1234567", "-1,,,,,,", "\xb01,,,,,,", "::::::::", "////////"} {
		if v, n := digits(binary.LittleEndian.Uint64([]byte(s))); n != 0 {
			t.Errorf("%q: %d, %d digits", s, v, n)
		}
	}
}

// TestSameToken: case is Python's, and so are references.
func TestSameToken(t *testing.T) {
	for _, c := range []struct {
		surface, stored string
		want            bool
	}{
		{"Istanbul", "ISTANBUL", true}, {"İstanbul", "Istanbul", false}, {"İ", "i", false}, {"ΟΔΟΣ", "οδος", true}, {"ΟΔΟΣ", "οδοσ", false},
		{"a b", "a&#1; b", true}, {"<", "&lt;", true},
	} {
		if sameToken(c.surface, c.stored) != c.want {
			t.Errorf("%q and %q: %v", c.surface, c.stored, !c.want)
		}
	}
}
