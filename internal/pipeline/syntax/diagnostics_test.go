package syntax_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/errtest"
)

func TestDiagnosticsJSON(t *testing.T) {
	src := []byte("table \"a\" {}\ntable \"a\" {}\n")
	c := syntax.NewCollector(nil)
	blocks := syntax.ParseFile("p.hcl", src, c).Blocks
	c.Error(syntax.Header(blocks[1]), "Declared twice", "table.a has been declared before. Give one of them another name.",
		syntax.Place{Range: syntax.Header(blocks[0]), Text: "declared here first"})
	ds := c.Done()
	b, err := json.Marshal(ds)
	errtest.None(t, err)
	want := `[{"severity":"error","summary":"Declared twice","detail":"table.a has been declared before. Give one of them another name.",` +
		`"file":"p.hcl","line":2,"column":1,"end":{"file":"p.hcl","line":2,"column":10},` +
		`"related":[{"file":"p.hcl","line":1,"column":1,"text":"declared here first"}]}]`
	if d := cmp.Diff(want, string(b)); d != "" {
		t.Error(d)
	}
	if n, m := ds.Count(); n != 1 || m != 0 || ds.Summary() != "1 error" {
		t.Errorf("counts %d, %d, %s", n, m, ds.Summary())
	}
	errtest.Says(t, ds.Err(), "p.hcl:2:1")
}

// An excerpt lines up whatever is before the mark: tabs, wide characters, and
// nothing that would move the terminal's cursor.
func TestExcerpt(t *testing.T) {
	c := syntax.NewCollector(nil)
	body := syntax.ParseFile("p.hcl", []byte("locals {\n\ta = \"日本é\x01\" + nope\r\n}\n"), c)
	c.Error(body.Blocks[0].Body.Attributes["a"].Expr.Variables()[0].SourceRange(), "Unknown name", "There is none.")
	ds := c.Done()
	var b strings.Builder
	errtest.None(t, ds.Write(&b, syntax.Style{Color: true}))
	if strings.Contains(b.String(), "\x01") || strings.Contains(b.String(), "\r") || strings.Contains(b.String(), "\t") {
		t.Errorf("not printable: %q", b.String())
	}
	lines := strings.Split(b.String(), "\n")
	if len(lines) < 4 {
		t.Fatal(b.String())
	}
	// `    2 |  a = "日本é\x01" + nope`: the mark stands under nope, after 19 columns.
	if want := "      | " + strings.Repeat(" ", 19) + "\x1b[1m\x1b[31m^^^^\x1b[0m"; lines[3] != want {
		t.Errorf("got  %q\nwant %q\n%s", lines[3], want, b.String())
	}
}
