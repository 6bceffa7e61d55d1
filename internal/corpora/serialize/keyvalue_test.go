package serialize

import "testing"

func TestKeyValueFirst(t *testing.T) {
	first := func(o *Options) { o.TableFirst = "key_value" }
	tests := []bodyTest{
		{name: "one column", html: "<table><tr><td>a<tr><td> <tr><td>b</table>", want: "a\nb"},
		{name: "a th alone is a key", html: "<table><tr><th>A:<tr><td>a<tr><th>B<tr><th>C<tr><td>c<tr><td>d<tr><th>E</table>", want: "A: a\nB\nC: c\nd\nE"},
		{name: "a th alone before a pair", html: "<table><tr><th>A<tr><th>B<td>b</table>", want: "A\nB: b"},
		{name: "colon of the key", html: "<table><tr><td>a b c d e f g:<td>h</table>", want: "a b c d e f g: h"},
		{name: "long keys are none", html: "<table><tr><td>a b c d e f g<td>h<tr><td>a b c d e f g<td>i</table>", want: "a b c d e f g ; h\na b c d e f g ; i"},
		{name: "no key", html: "<table><tr><th>:<td>a</table>", want: "a"},
		{name: "several values", html: "<table><tr><th>A<td>a<td><td>b</table>", want: "A: a ; b"},
		{name: "half of a header", html: "<table><tr><td>A<th>B<td>C<tr><td>a<td>b<td>c<tr><td>d<td>e<td>f</table>", want: "A: a ; B: b ; C: c\nA: d ; B: e ; C: f"},
		{name: "less than half of a header", html: "<table><tr><td>A<th>B<td>C<td>D<tr><td>a<td>b<td>c<td>d</table>", want: "A ; B ; C ; D\na ; b ; c ; d"},
		{name: "cell without a head", html: "<table><tr><td><th>B<th>C<th>D<tr><td>a<td>b<td>c<td>d<tr><td>a<td>b<td>c<td>d<tr><td>a<td>b<td>c<td>d</table>",
			want: "a ; B: b ; C: c ; D: d\na ; B: b ; C: c ; D: d\na ; B: b ; C: c ; D: d"},
		{name: "spans repeat", html: "<table><tr><td rowspan=2>a<td>b<td>c<tr><td colspan=2>d</table>", want: "a ; b ; c\na ; d ; d"},
		{name: "nested, each after its row", html: "<table><tr><th>A<td>a<table><tr><th>B<td>b</table><tr><th>C<td>c</table>", want: "A: a\nB: b\nC: c"},
		{name: "nested, in parts", html: "<table><tr><td>a b c d e f g<table><tr><td>b</table><td>c<td>d<tr><td>e<td>f<td>g</table>",
			want: "a b c d e f g\nb\nc\nd\n\ne\nf\ng"},
		{name: "nested only", html: "<table><tr><td><table><tr><th>a<td>b</table></table>", want: "a: b"},
		{name: "empty", html: "x<table><tr><td><table><tr><td></table></table>y", want: "x\ny"},
	}
	for i := range tests {
		tests[i].options = first
	}
	runBodies(t, tests)
}
