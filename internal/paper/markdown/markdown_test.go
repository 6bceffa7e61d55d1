package markdown

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain, words": "plain, words", "a_b *c* `d`": "a\\_b \\*c\\* \\`d\\`", "<b> & [x](y)": `&lt;b&gt; &amp; \[x\](y)`,
		"@you #1 | ~x~ !": `\@you \#1 \| \~x\~ \!`, "one\ntwo": `one\\ntwo`,
	} {
		testkit.Is(t, Text(in), want, in)
	}
}

func TestCode(t *testing.T) {
	for in, want := range map[string][2]string{
		"x": {"`x`", "`x`"}, "": {"` `", "` `"}, "a|b": {"`a|b`", "`a\\|b`"}, "`date`": {"`` `date` ``", "`` `date` ``"},
		"a``b`c": {"``` a``b`c ```", "``` a``b`c ```"}, "one\ntwo": {"`one\\ntwo`", "`one\\ntwo`"},
	} {
		testkit.Is(t, [2]string{Code(in), CodeCell(in)}, want, in)
	}
}
