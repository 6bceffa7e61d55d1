package serialize

import "testing"

func TestTables(t *testing.T) {
	runBodies(t, []bodyTest{
		{name: "two columns of td", html: "<table><tr><td>a<td>b<tr><td>c<td>d</table>", want: "a: b\nc: d"},
		{name: "two columns, one empty", html: "<table><tr><td>a<td><tr><td><td>d<tr><td>e<td>f</table>", want: "a\nd\ne: f"},
		{name: "colon of the attribute stays", html: "<table><tr><th>Born:<td>x</table>", want: "Born:: x"},
		{name: "header beats attribute and value", html: "<table><tr><th>A<th>B<tr><td>a<td>b</table>", want: "A: a ; B: b"},
		{name: "row of th, no data", html: "<table><tr><th>A<th>B<th>C</table>", want: "A ; B ; C"},
		{name: "td row is no header", html: "<table><tr><td>A<td>B<td>C<tr><td>a<td>b<td>c</table>", want: "A ; B ; C\na ; b ; c"},
		{name: "one th is no header", html: "<table><tr><th>A<td>B<td>C<tr><td>a<td>b<td>c</table>", want: "A ; B ; C\na ; b ; c"},
		{name: "title above the header", html: "<table><tr><th colspan=2>Title<tr><th>A<th>B<tr><td>a<td>b</table>", want: "Title\nA: a ; B: b"},
		{name: "row of one spanning cell", html: "<table><tr><th>A<th>B<tr><td colspan=2>Summary<tr><td>a<td>b</table>", want: "Summary\nA: a ; B: b"},
		{name: "two header rows", html: "<table><tr><th rowspan=2>Year<th colspan=2>Votes<tr><th>A<th>B<tr><td>1990<td>1<td>2</table>",
			want: "Year: 1990 ; Votes A: 1 ; Votes B: 2"},
		{name: "header repeated below", html: "<table><tr><th>A<th>B<tr><td>a<td>b<tr><th>A<th>B<tr><td>c<td>d</table>", want: "A: a ; B: b\nA: c ; B: d"},
		{name: "empty header", html: "<table><tr><th><th>Gold<th>Silver<tr><td>USA<td>3<td>2</table>", want: "USA ; Gold: 3 ; Silver: 2"},
		{name: "cell without a header", html: "<table><tr><th>A<th>B<tr><td>a<td>b<td>c</table>", want: "A: a ; B: b ; c"},
		{name: "rowspan repeats", html: "<table><tr><th>A<th>B<th>C<tr><td rowspan=2>a<td>b<td>c<tr><td>d<td>e</table>", want: "A: a ; B: b ; C: c\nA: a ; B: d ; C: e"},
		{name: "rowspan in the middle", html: "<table><tr><td>a<td rowspan=2>b<td>c<tr><td>d<td>e</table>", want: "a ; b ; c\nd ; b ; e"},
		{name: "rowspan ends with its group", html: "<table><tbody><tr><td rowspan=9>a<td>b<td>c</tbody><tbody><tr><td>d<td>e<td>f</tbody></table>", want: "a ; b ; c\nd ; e ; f"},
		{name: "rowspan without a row of its own text", html: "<table><tr><td rowspan=2>a<td>b<td>c<tr><td><td></table>", want: "a ; b ; c"},
		{name: "colspan repeats", html: "<table><tr><th>A<th>B<th>C<tr><td colspan=2>a<td>c</table>", want: "A: a ; B: a ; C: c"},
		{name: "bad spans", html: "<table><tr><td colspan=x>a<td rowspan=0>b<td colspan=-2>c</table>", want: "a ; b ; c"},
		{name: "empty columns do not count", html: "<table><tr><td><td>a<td> <td>b</table>", want: "a: b"},
		{name: "empty rows do not count", html: "<table><tr><td><td><tr><th>A<th>B<tr><td>a<td>b</table>", want: "A: a ; B: b"},
		{name: "caption", html: "<table><caption>Cap</caption><tr><td>a<td>b</table>", want: "Cap\na: b"},
		{name: "caption of an empty table", html: "<p>x</p><table><caption>Cap</caption><tr><td></table>", want: "x"},
		{name: "lists and tables in a cell", html: "<table><tr><td>a<ul><li>b<li>c</ul><td><table><tr><td>d<td>e</table></table>", want: "a b c: d e"},
		{name: "paragraphs in a cell", html: "<table><tr><td><p>a</p><p>b</p><td>c<br>d</table>", want: "a b: c d"},
		{name: "heading in a cell does not stop", html: "<table><tr><td><h2>References</h2>a<td>b</table><p>c</p>", want: "References a: b\nc"},
		{name: "thead, tbody, tfoot", html: "<table><thead><tr><th>A<th>B</thead><tbody><tr><td>a<td>b</tbody><tfoot><tr><td>c<td>d</tfoot></table>", want: "A: a ; B: b\nA: c ; B: d"},
		{name: "text between cells stands before the table", html: "<table>x<tr><td>a<td>b</table>", want: "x\na: b"},
		{name: "matrix for all", html: "<table><tr><th>A<th>B<tr><td>a<td>b</table>", want: "A ; B\na ; b", options: func(o *Options) { o.Tables = "matrix" }},
		{name: "no tables", html: "x<table><tr><td>a</table>y", want: "x\ny", options: func(o *Options) { o.Tables = "drop" }},
	})
}
