package syntax_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/errtest"
)

func TestCheck(t *testing.T) {
	if ds := syntax.Check(map[string][]byte{"a.hcl": []byte("step \"no\" \"such\" {}")}); ds.HasErrors() {
		t.Error(ds.Err())
	}
	for _, name := range []string{"a.hcl", "a.test.hcl"} {
		if ds := syntax.Check(map[string][]byte{name: []byte("step {")}); !ds.HasErrors() {
			t.Errorf("%s: half a block is in order", name)
		}
	}
}

// ParseFile gives a body or says why there is none, at places of the file; what it lets
// through is not too deep for those who walk it, and what is said of a file can be printed.
func FuzzParse(f *testing.F) {
	for _, dir := range []string{"valid", "invalid", "lint"} {
		sources, err := syntax.ReadAll("../testdata/" + dir)
		errtest.None(f, err)
		for _, name := range syntax.Keys(sources) {
			f.Add(sources[name])
		}
	}
	f.Add([]byte("a = " + strings.Repeat("[", 2*syntax.MaxDepth)))
	f.Add([]byte("a" + strings.Repeat("\x86", 1000))) // no character of a long line begins near its fault
	f.Fuzz(func(t *testing.T, src []byte) {
		c := syntax.NewCollector(nil)
		b := syntax.ParseFile("p.hcl", src, c)
		ds := c.Done()
		if (b == nil) != ds.HasErrors() {
			t.Fatal("a body and errors, or neither")
		}
		if b != nil {
			w := &depth{}
			hclsyntax.Walk(b.Body, w)
			if w.most > 5*syntax.MaxDepth {
				t.Fatalf("%d nodes deep", w.most)
			}
		}
		for _, d := range ds.List {
			if r := d.Subject; r == nil || r.Filename != "p.hcl" || r.Start.Line < 1 || r.Start.Byte < 0 || r.Start.Byte > len(src) || r.End.Byte > len(src) || d.Summary == "" {
				t.Fatalf("of %d bytes, at %v: %s", len(src), r, d.Summary)
			}
		}
		for _, width := range []int{0, 40} {
			var out strings.Builder
			errtest.None(t, ds.Write(&out, syntax.Style{Width: width}))
			if bad := func(r rune) bool { return r != '\n' && unicode.IsControl(r) }; !utf8.ValidString(out.String()) || strings.ContainsFunc(out.String(), bad) {
				t.Fatalf("not printable: %q", out.String())
			}
		}
	})
}

// depth is a walker that measures how deep nodes are within each other.
type depth struct{ now, most int }

func (d *depth) Enter(hclsyntax.Node) hcl.Diagnostics {
	d.now++
	d.most = max(d.most, d.now)
	return nil
}

func (d *depth) Exit(hclsyntax.Node) hcl.Diagnostics {
	d.now--
	return nil
}
