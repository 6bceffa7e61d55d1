package markdown

import "testing"

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain, words": "plain, words", "a_b *c* `d`": "a\\_b \\*c\\* \\`d\\`", "<b> & [x](y)": `&lt;b&gt; &amp; \[x\](y)`,
		"@you #1 | ~x~ !": `\@you \#1 \| \~x\~ \!`, "one\ntwo": `one\\ntwo`,
	} {
		if got := Text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestCode(t *testing.T) {
	for in, want := range map[string][2]string{
		"x": {"`x`", "`x`"}, "": {"` `", "` `"}, "a|b": {"`a|b`", "`a\\|b`"}, "`date`": {"`` `date` ``", "`` `date` ``"},
		"a``b`c": {"``` a``b`c ```", "``` a``b`c ```"}, "one\ntwo": {"`one\\ntwo`", "`one\\ntwo`"},
	} {
		if got := [2]string{Code(in), CodeCell(in)}; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
