package syntax_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/testkit"
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

// ParseFile gives a body that is not too deep, or says at places of the file why not, in printable words.
func FuzzParse(f *testing.F) {
	for _, dir := range []string{"valid", "invalid", "lint"} {
		sources, err := syntax.ReadAll("../testdata/" + dir)
		testkit.None(f, err)
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
			testkit.None(t, ds.Write(&out, syntax.Style{Width: width}))
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

func TestDiagnosticsJSON(t *testing.T) {
	src := []byte("table \"a\" {}\ntable \"a\" {}\n")
	c := syntax.NewCollector(nil)
	blocks := syntax.ParseFile("p.hcl", src, c).Blocks
	c.Error(blocks[1].DefRange(), "Declared twice", "table.a has been declared before. Give one of them another name.",
		syntax.Place{Range: blocks[0].DefRange(), Text: "declared here first"})
	ds := c.Done()
	b, err := json.Marshal(ds)
	testkit.None(t, err)
	want := `[{"severity":"error","summary":"Declared twice","detail":"table.a has been declared before. Give one of them another name.",` +
		`"file":"p.hcl","line":2,"column":1,"end":{"file":"p.hcl","line":2,"column":10},` +
		`"related":[{"file":"p.hcl","line":1,"column":1,"text":"declared here first"}]}]`
	testkit.Deep(t, string(b), want)
	if n, m := ds.Count(); n != 1 || m != 0 || ds.Summary() != "1 error" {
		t.Errorf("counts %d, %d, %s", n, m, ds.Summary())
	}
	testkit.ErrSays(t, ds.Err(), "p.hcl:2:1")
}

// An excerpt lines up after tabs and wide characters, and has nothing that moves the terminal's cursor.
func TestExcerpt(t *testing.T) {
	c := syntax.NewCollector(nil)
	body := syntax.ParseFile("p.hcl", []byte("locals {\n\ta = \"日本é\x01\" + nope\r\n}\n"), c)
	c.Error(body.Blocks[0].Body.Attributes["a"].Expr.Variables()[0].SourceRange(), "Unknown name", "There is none.")
	ds := c.Done()
	var b strings.Builder
	testkit.None(t, ds.Write(&b, syntax.Style{Color: true}))
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

func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"p/b.hcl": "b", "p/a.hcl": "a", "p/.hidden.hcl": "h", "p/notes.txt": "n", "p/sub/c.hcl": "c", "empty/x.txt": "", "alone.hcl": "alone",
		"whole/pipelines.hcl": "", "whole/a.hcl": "", "whole/a.test.hcl": "", "whole/redsi.local.hcl": "", "whole/.hidden.hcl": "", "whole/sub/b.hcl": "", "my.pipelines.hcl": ""} {
		testkit.Write(t, name, text)
	}
	for _, c := range []struct{ name, want, err string }{
		{"p", "p/a.hcl p/b.hcl", ""},
		{"./p/", "p/a.hcl p/b.hcl", ""},
		{"alone.hcl", "alone.hcl", ""},
		{"empty", "", "has no *.hcl file"},
		{"p/notes.txt", "", "does not end in .hcl"},
		{"whole/pipelines.hcl", "whole/a.hcl whole/pipelines.hcl", ""},
		{"./whole/../whole/pipelines.hcl", "whole/a.hcl whole/pipelines.hcl", ""},
		{"whole", "whole/a.hcl whole/pipelines.hcl", ""},
		{"whole/a.hcl", "whole/a.hcl", ""},
		{"whole/a.test.hcl", "", "is a test file"},
		{"whole/redsi.local.hcl", "", "has settings for the one beside it"},
		{"whole/.hidden.hcl", "whole/.hidden.hcl", ""},
		{"p/pipelines.hcl", "", "p/pipelines.hcl"},
		{"my.pipelines.hcl", "my.pipelines.hcl", ""},
		{"nowhere.hcl", "", "nowhere.hcl"},
		{"", "", "there is no pipelines.hcl here"},
		{syntax.DefaultFile, "", "there is no pipelines.hcl here"},
	} {
		got, err := syntax.Read(c.name)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: error %v, want %q", c.name, err, c.err)
		}
		testkit.Is(t, strings.Join(syntax.Keys(got), " "), c.want, c.name)
	}
	testkit.Write(t, syntax.DefaultFile, "x")
	if got, err := syntax.Read(""); err != nil || strings.Join(syntax.Keys(got), " ") != "alone.hcl my.pipelines.hcl pipelines.hcl" {
		t.Errorf("the default: %v, %v", got, err)
	}
	for file, want := range map[string]string{"whole/a.hcl": "whole/pipelines.hcl", "alone.hcl": "pipelines.hcl", "whole/pipelines.hcl": "", "whole/a.test.hcl": "",
		"whole/.hidden.hcl": "", "p/a.hcl": "", "whole": ""} {
		testkit.Is(t, syntax.Around(file), want, file)
	}
}

// ReadFile takes a regular file of a bounded size.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	testkit.Write(t, large, "")
	testkit.None(t, os.Truncate(large, 20<<30))
	pipe := filepath.Join(dir, "pipe") // nobody writes to it
	testkit.None(t, syscall.Mkfifo(pipe, 0o600))
	full := filepath.Join(dir, "full")
	testkit.Write(t, full, make([]byte, syntax.MaxFile))
	if b, err := syntax.ReadFile(full); err != nil || len(b) != syntax.MaxFile {
		t.Errorf("the largest file: %d bytes, %v", len(b), err)
	}
	for name, want := range map[string]string{large: "more than 8388608 bytes", dir: "is a folder", "/dev/zero": "is a device", pipe: "is a pipe", filepath.Join(dir, "none"): "no such file"} {
		testkit.ErrSays(t, testkit.Err(syntax.ReadFile(name)), want, name)
	}
}
