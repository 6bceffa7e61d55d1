package pipeline_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/pipeline"
)

func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"p/b.hcl": "b", "p/a.hcl": "a", "p/.hidden.hcl": "h", "p/notes.txt": "n", "p/sub/c.hcl": "c", "empty/x.txt": "", "alone.hcl": "alone",
		"whole/pipelines.hcl": "", "whole/a.hcl": "", "whole/a.test.hcl": "", "whole/redsi.local.hcl": "", "whole/.hidden.hcl": "", "whole/sub/b.hcl": "", "my.pipelines.hcl": ""} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
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
		{pipeline.DefaultFile, "", "there is no pipelines.hcl here"},
	} {
		got, err := pipeline.Read(c.name)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: error %v, want %q", c.name, err, c.err)
		}
		if names := strings.Join(sortedNames(got), " "); names != c.want {
			t.Errorf("%q reads %s, want %s", c.name, names, c.want)
		}
	}
	if err := os.WriteFile(pipeline.DefaultFile, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := pipeline.Read(""); err != nil || strings.Join(sortedNames(got), " ") != "alone.hcl my.pipelines.hcl pipelines.hcl" {
		t.Errorf("the default: %v, %v", got, err)
	}
	for file, want := range map[string]string{"whole/a.hcl": "whole/pipelines.hcl", "alone.hcl": "pipelines.hcl", "whole/pipelines.hcl": "", "whole/a.test.hcl": "",
		"whole/.hidden.hcl": "", "p/a.hcl": "", "whole": ""} {
		if got := pipeline.Around(file); got != want {
			t.Errorf("around %s stands %q, want %q", file, got, want)
		}
	}
}

// Variables: --var wins over --var-file, that over the environment, that over
// the default.
func TestPrecedence(t *testing.T) {
	src := map[string][]byte{"p.hcl": []byte("variable \"x\" { default = \"default\" }\nstep \"download\" \"a\" {\n  url = var.x\n}\n")}
	o := pipeline.Options{Registry: kinds()}
	check := func(want string) {
		t.Helper()
		p, ds := pipeline.Load(src, o)
		if ds.HasErrors() {
			t.Fatal(ds.Err())
		}
		if got := string(p.Vars["x"]); got != `"`+want+`"` || p.Inputs()["x"] != want {
			t.Errorf("x is %s, as an argument %s, want %s", got, p.Inputs()["x"], want)
		}
	}
	check("default")
	o.Env = []string{"REDSI_VAR_x=env", "REDSI_VAR_y=other program's", "x=1"}
	check("env")
	o.VarFiles = []pipeline.File{{Name: "1.hcl", Bytes: []byte(`x = "first"`)}}
	check("first")
	o.VarFiles = append(o.VarFiles, pipeline.File{Name: "2.json", Bytes: []byte(`{"x": "second"}`)})
	check("second")
	o.VarFiles = append(o.VarFiles, pipeline.File{Name: "3.hcl", Bytes: []byte(`x = null`)})
	check("default")
	o.Vars = map[string]string{"x": "argument"}
	check("argument")
}

func TestDiagnosticsJSON(t *testing.T) {
	_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte("table \"a\" {}\ntable \"a\" {}\n")}, pipeline.Options{Registry: kinds()})
	b, err := json.Marshal(ds)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"severity":"error","summary":"Declared twice","detail":"table.a has been declared before. Give one of them another name.",` +
		`"file":"p.hcl","line":2,"column":1,"end":{"file":"p.hcl","line":2,"column":10},` +
		`"related":[{"file":"p.hcl","line":1,"column":1,"text":"declared here first"}]}]`
	if d := cmp.Diff(want, string(b)); d != "" {
		t.Error(d)
	}
	if n, m := ds.Count(); n != 1 || m != 0 || ds.Summary() != "1 error" {
		t.Errorf("counts %d, %d, %s", n, m, ds.Summary())
	}
	if err := ds.Err(); err == nil || !strings.Contains(err.Error(), "p.hcl:2:1") {
		t.Errorf("as an error: %v", err)
	}
}

// An excerpt lines up whatever is before the mark: tabs, wide characters, and
// nothing that would move the terminal's cursor.
func TestExcerpt(t *testing.T) {
	_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte("locals {\n\ta = \"日本é\x01\" + nope\r\n}\n")}, pipeline.Options{Registry: kinds()})
	var b strings.Builder
	if err := ds.Write(&b, pipeline.Style{Color: true}); err != nil {
		t.Fatal(err)
	}
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

func TestCheckSyntax(t *testing.T) {
	if ds := pipeline.CheckSyntax(map[string][]byte{"a.hcl": []byte("step \"no\" \"such\" {}")}); ds.HasErrors() {
		t.Error(ds.Err())
	}
	for _, name := range []string{"a.hcl", "a.test.hcl"} {
		if ds := pipeline.CheckSyntax(map[string][]byte{name: []byte("step {")}); !ds.HasErrors() {
			t.Errorf("%s: half a block is in order", name)
		}
	}
}

// file() reads only what it is given when there is no file system.
func TestFileFromSources(t *testing.T) {
	src := map[string][]byte{"dir/p.hcl": []byte("step \"download\" \"a\" {\n  url = file(\"x.txt\")\n}\n"), "dir/x.txt": []byte("x"), "dir/y.txt": []byte("y")}
	p, ds := pipeline.Load(src, pipeline.Options{Registry: kinds()})
	if ds.HasErrors() {
		t.Fatal(ds.Err())
	}
	if got := strings.Join(sortedNames(p.Sources), " "); got != "dir/p.hcl dir/x.txt" {
		t.Errorf("sources %s", got)
	}
	src["dir/x.txt"] = []byte("\xff")
	for name, ds := range map[string]pipeline.Diagnostics{
		"bytes":   second(pipeline.Load(src, pipeline.Options{Registry: kinds()})),
		"nothing": second(pipeline.Load(map[string][]byte{"p.hcl": src["dir/p.hcl"]}, pipeline.Options{Registry: kinds()})),
	} {
		if !ds.HasErrors() {
			t.Errorf("%s: it loads", name)
		}
	}
}

func second(_ *pipeline.Pipeline, ds pipeline.Diagnostics) pipeline.Diagnostics { return ds }

// Every function is documented once, in the order of its group, and can be
// called as its usage says.
func TestFunctions(t *testing.T) {
	calls := map[string]string{
		"alltrue": `alltrue([true, false])`, "anytrue": `anytrue([true, false])`,
		"product": `product({ a = [1] })`, "files": `can(files(1, "*"))`, "json": `can(json(1))`, "file": `file("p.hcl.txt")`, "filebase64": `filebase64("p.hcl.txt")`, "chunklist": `chunklist([1, 2, 3], 2)`, "coalesce": `coalesce(null, 1)`,
		"coalescelist": `coalescelist([], [1])`, "compact": `compact(["", "a"])`, "concat": `concat([1], [2])`, "contains": `contains(["a"], "a")`,
		"distinct": `distinct([1, 1])`, "element": `element([1], 3)`, "flatten": `flatten([[1], 2])`, "keys": `keys({ a = 1 })`, "length": `length("né")`,
		"lookup": `lookup({ a = 1 }, "b", 2)`, "merge": `merge({ a = 1 }, { b = 2 })`, "range": `range(1, 3, 1)`, "reverse": `reverse([1, 2])`,
		"setintersection": `setintersection([1, 2], [2])`, "setproduct": `setproduct([1], [2])`, "setsubtract": `setsubtract([1, 2], [2])`,
		"setunion": `setunion([1], [2])`, "slice": `slice([1, 2], 0, 1)`, "sort": `sort(["b", "a"])`, "values": `values({ a = 1 })`, "zipmap": `zipmap(["a"], [1])`,
		"basename": `basename("a/b")`, "chomp": `chomp("a\n")`, "dirname": `dirname("a/b")`, "endswith": `endswith("ab", "b")`, "format": `format("%d", 1)`,
		"formatlist": `formatlist("%d", [1])`, "indent": `indent(1, "a\nb")`, "join": `join(",", ["a"])`, "lower": `lower("A")`, "regex": `regex("b", "abc")`,
		"regexall": `regexall("b", "abc")`, "regexreplace": `regexreplace("abc", "b", "x")`, "replace": `replace("abc", "b", "x")`, "split": `split(",", "a,b")`,
		"startswith": `startswith("ab", "a")`, "strrev": `strrev("ab")`, "substr": `substr("abc", 0, 1)`, "title": `title("a b")`, "trim": `trim("aba", "a")`,
		"trimprefix": `trimprefix("ab", "a")`, "trimspace": `trimspace(" a ")`, "trimsuffix": `trimsuffix("ab", "b")`, "upper": `upper("a")`,
		"abs": `abs(-1)`, "ceil": `ceil(1.5)`, "floor": `floor(1.5)`, "log": `log(8, 2)`, "max": `max(1, 2)`, "nonsensitive": `nonsensitive(true)`, "min": `min(1, 2)`, "parseint": `parseint("ff", 16)`,
		"pow": `pow(2, 3)`, "signum": `signum(-2)`, "sum": `sum([1, 2])`, "can": `can(1)`, "csvdecode": `csvdecode("a\n1")`, "jsondecode": `jsondecode("[1]")`,
		"jsonencode": `jsonencode([1])`, "tobool": `tobool("true")`, "tolist": `tolist([1])`, "tomap": `tomap({ a = 1 })`, "tonumber": `tonumber("1")`,
		"toset": `toset([1])`, "fileset": `fileset("data", "*")`, "filesha256": `filesha256("big.bin")`, "templatefile": `templatefile("t.tmpl", { n = 2 })`,
		"index": `index(["a", "b"], "b")`, "one": `one([1])`,
		"setsymmetricdifference": `setsymmetricdifference([1, 2], [2, 3])`, "base64decode": `base64decode("w6k=")`, "base64encode": `base64encode("é")`,
		"md5": `md5("")`, "sha1": `sha1("")`, "sha256": `sha256("")`, "sha512": `sha512("")`, "strcontains": `strcontains("abc", "b")`,
		"tomldecode": `tomldecode("a = 0.1")`, "yamldecode": `yamldecode("a: [1e-4, no]")`, "pick": `pick("a: 1.0\nb: 2", ["a"])`, "yamlencode": `yamlencode({ b = [1, "no"], a = null })`, "tostring": `tostring(1)`, "try": `try(nope[0], 1)`,
	}
	calls["try"] = `try([][0], 1)`
	var b strings.Builder
	last := map[string]string{}
	for _, f := range pipeline.Functions() {
		call, ok := calls[f.Name]
		if !ok {
			t.Errorf("%s is not tried here", f.Name)
			continue
		}
		if f.Group != "Pipelines" && last[f.Group] >= f.Name {
			t.Errorf("%s stands after %s", f.Name, last[f.Group])
		}
		last[f.Group] = f.Name
		if !strings.HasPrefix(f.Usage, f.Name+"(") || !strings.HasSuffix(f.Help, ".") {
			t.Errorf("%s: %s: %s", f.Name, f.Usage, f.Help)
		}
		fmt.Fprintf(&b, "variable %q { default = jsonencode(%s) }\n", f.Name, call)
		delete(calls, f.Name)
	}
	if len(calls) > 0 {
		t.Errorf("not documented: %v", calls)
	}
	p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(b.String()), "p.hcl.txt": []byte("text"), "t.tmpl": []byte("%{ for i in range(n) }${i},%{ endfor }")}, pipeline.Options{Registry: kinds(),
		World: pipeline.World{Found: pipeline.Found{Lists: map[string]map[string][]string{"data": {"*": {"a", "b"}}}, Digests: map[string]string{"big.bin": "00ff"}}}})
	if ds.HasErrors() {
		t.Fatal(ds.Err())
	}
	var out strings.Builder
	for _, f := range pipeline.Functions() {
		var v string
		if err := json.Unmarshal(p.Vars[f.Name], &v); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s = %s\n", f.Usage, v)
	}
	golden(t, "testdata/functions.golden", out.String())
}
