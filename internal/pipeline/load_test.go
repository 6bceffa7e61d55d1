package pipeline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/local"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// options reads what a test file says about itself in comments:
//
//	#var NAME=VALUE    as --var gives it
//	#env NAME=VALUE    an environment variable
//	#varfile NAME TEXT a variable file of one line
func options(t *testing.T, src []byte) pipeline.Options {
	o := pipeline.Options{Registry: kinds(), Vars: map[string]string{}, World: pipeline.World{ReadFile: os.ReadFile}, Module: declare.LocalModule}
	for line := range strings.Lines(string(src)) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "#var":
			name, value, ok := strings.Cut(rest, "=")
			if !ok {
				t.Fatalf("bad line %q", line)
			}
			o.Vars[name] = value
		case "#env":
			o.Env = append(o.Env, rest)
		case "#varfile":
			name, text, _ := strings.Cut(rest, " ")
			o.VarFiles = append(o.VarFiles, pipeline.File{Name: name, Bytes: []byte(text + "\n")})
		}
	}
	return o
}

// load reads a file or folder of testdata.
func load(t *testing.T, name string) (*pipeline.Pipeline, pipeline.Diagnostics) {
	t.Helper()
	sources, err := syntax.Read(name)
	testkit.None(t, err)
	o := options(t, slices.Concat(lists.Map(syntax.Keys(sources), func(name string) []byte { return sources[name] })...))
	o.Lint = filepath.Base(filepath.Dir(name)) == "lint"
	return pipeline.Load(sources, o)
}

// report is what a person is told.
func report(t *testing.T, ds pipeline.Diagnostics) string {
	t.Helper()
	var b strings.Builder
	testkit.None(t, ds.Write(&b, pipeline.Style{Width: 100}))
	return b.String()
}

// Every entry of testdata/invalid must not load, and has a golden of its diagnostics. A new entry is a new test.
func TestInvalid(t *testing.T) {
	for _, name := range entries(t, "testdata/invalid") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			p, ds := load(t, name)
			testkit.That(t, p == nil && ds.HasErrors(), "it loads")
			goldens.Same(t, strings.TrimSuffix(name, ".hcl")+".golden", report(t, ds))
		})
	}
}

// TestLint: what lint warns of, and what it does not.
func TestLint(t *testing.T) {
	p, ds := load(t, "testdata/lint/hints.hcl")
	if p == nil {
		t.Fatal(ds.Err())
	}
	goldens.Same(t, "testdata/lint/hints.golden", report(t, ds))
}

// Every entry of testdata/valid loads, with a golden of what it means.
func TestValid(t *testing.T) {
	for _, name := range entries(t, "testdata/valid") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			p, ds := load(t, name)
			testkit.None(t, ds.Err())
			goldens.Same(t, strings.TrimSuffix(name, ".hcl")+".golden", report(t, ds)+text(t, p))

			again, ds := pipeline.Load(p.Sources, pipeline.Options{Registry: kinds(), Vars: p.Inputs, World: pipeline.World{Found: p.Found}, Module: modulesOf(p)})
			if ds.HasErrors() {
				t.Fatalf("from its own sources and inputs: %v", ds.Err())
			}
			testkit.Deep(t, text(t, again), text(t, p))
		})
	}
}

// modulesOf opens modules from the files that a pipeline carries.
func modulesOf(p *pipeline.Pipeline) func(folder, source string) (map[string][]byte, error) {
	return func(folder, source string) (map[string][]byte, error) {
		files := map[string][]byte{}
		for name, b := range p.Modules {
			if at := path.Join(folder, source); name == at || path.Dir(name) == at {
				files[name] = b
			}
		}
		return files, nil
	}
}

func entries(t *testing.T, dir string) (names []string) {
	list, err := os.ReadDir(dir)
	testkit.None(t, err)
	for _, e := range list {
		if e.IsDir() || strings.HasSuffix(e.Name(), ".hcl") {
			names = append(names, dir+"/"+e.Name())
		}
	}
	return names
}

// text writes a pipeline for a golden.
func text(t *testing.T, p *pipeline.Pipeline) string {
	t.Helper()
	var b strings.Builder
	vars, err := json.Marshal(p.Vars)
	testkit.None(t, err)
	fmt.Fprintf(&b, "vars %s\n", vars)
	if len(p.Limits) > 0 {
		fmt.Fprintf(&b, "limits %v\n", p.Limits)
	}
	for _, n := range syntax.Keys(p.Sources) {
		fmt.Fprintf(&b, "source %s\n", n)
	}
	for _, n := range syntax.Keys(p.Modules) {
		fmt.Fprintf(&b, "module file %s\n", n)
	}
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "\n%s  %s:%d\n", s.Address, s.Pos.File, s.Pos.Line)
		if s.Queue != "" {
			fmt.Fprintf(&b, "  queue %s\n", s.Queue)
		}
		if s.Resources != nil {
			fmt.Fprintf(&b, "  resources %+v\n", *s.Resources)
		}
		tree, err := s.Task.Tree()
		testkit.None(t, err)
		var config bytes.Buffer
		e := json.NewEncoder(&config)
		e.SetEscapeHTML(false)
		e.SetIndent("  ", "  ")
		testkit.None(t, e.Encode(short(tree)))
		fmt.Fprintf(&b, "  %s %s", s.Task.Kind, config.String())
		var lines []string
		for name, p := range s.AttrPos {
			lines = append(lines, fmt.Sprintf("%s:%d", name, p.Line))
		}
		sort.Strings(lines)
		fmt.Fprintf(&b, "  at %s\n", strings.Join(lines, " "))
	}
	return b.String()
}

// short writes inputs in one line.
func short(v any) any {
	switch v := v.(type) {
	case step.Input:
		return "<" + v.Ref.String() + ">"
	case []any:
		for i := range v {
			v[i] = short(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = short(v[k])
		}
	}
	return v
}

// Variables: --var wins over --var-file, that over the environment, that over redsi.local.hcl, that over the default.
func TestPrecedence(t *testing.T) {
	src := map[string][]byte{"p.hcl": []byte("variable \"x\" { default = \"default\" }\nstep \"download\" \"a\" {\n  url = var.x\n}\n")}
	o := pipeline.Options{Registry: kinds()}
	check := func(want string) {
		t.Helper()
		p, ds := pipeline.Load(src, o)
		testkit.None(t, ds.Err())
		if got := string(p.Vars["x"]); got != `"`+want+`"` || p.Inputs["x"] != want {
			t.Errorf("x is %s, as an argument %s, want %s", got, p.Inputs["x"], want)
		}
		if (len(p.Local) == 1) != (want == "local") || (len(p.Given) == 0) != (want == "default") {
			t.Errorf("%s: of redsi.local.hcl are %v, given are %v", want, p.Local, p.Given)
		}
	}
	check("default")
	o.Local = []pipeline.File{{Name: "redsi.local.hcl", Bytes: []byte(`x = "local"`)}}
	check("local")
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
	o.Vars["x"] = "default"
	check("default")
	o = pipeline.Options{Registry: kinds(), Local: []pipeline.File{{Name: "redsi.local.hcl", Bytes: []byte("\n  y = 1")}}}
	_, ds := pipeline.Load(src, o)
	testkit.ErrSays(t, ds.Err(), "redsi.local.hcl:2")
}

// TestQuestions: of variables that nobody has set, and only where something is wrong with them.
func TestQuestions(t *testing.T) {
	for source, want := range map[string]string{
		`variable "a" { ask = "A?" }`: "A?",
		`variable "a" {
  default = ""
  ask     = "A?"
  validation {
    condition     = var.a != ""
    error_message = "Say A."
  }
}`: "A?",
		"variable \"a\" {\n  default = \"\"\n  ask     = \"A?\"\n}\nlocals { b = var.nothing }": "",
		"variable \"a\" {\n  ask = []\n}": "",
	} {
		_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(source)}, pipeline.Options{})
		got := ""
		for _, q := range ds.Questions {
			got += q.Text
		}
		testkit.That(t, got == want && ds.HasErrors(), source, "asks", got, "want", want, ds.Err())
		if want == "" {
			continue
		}
		_, ds = pipeline.Load(map[string][]byte{"p.hcl": []byte(source)}, pipeline.Options{Vars: map[string]string{"a": ""}})
		if len(ds.Questions) > 0 {
			t.Errorf("%s\nis asked though it is set", source)
		}
	}
	_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte("variable \"a\" {\n  ask       = \"A?\"\n  sensitive = true\n}")}, pipeline.Options{})
	testkit.ErrSays(t, ds.Err(), "answers are kept in a file")
}

// TestLineEnds: a checkout with CRLF means what it does with LF. Quoted texts and what file() reads are as they are.
func TestLineEnds(t *testing.T) {
	const source = `variable "v" {
  default = <<-EOT
    a

      b
  EOT
}
variable "given" {}
variable "own" {}
locals {
  plain = <<EOT
one
  two
EOT
  parts = <<-EOT
    %{ for x in ["p", "q"] ~}
    x = ${x}

    %{ endfor ~}
    ${ <<X
within
X
    } end
  EOT
  quoted   = "a\r\nb"
  template = templatefile("t.tpl", { x = 1 })
  file     = file("t.tpl")
}
`
	const variables = "given = <<-EOT\n  c\n  d\nEOT\n"
	const template = "x = ${x}\n%{ if true }\ny\n%{ endif }\n"
	values := func(end string) map[string]string {
		as := func(text string) []byte { return []byte(strings.ReplaceAll(text, "\n", end)) }
		set, ds := local.Parse("redsi.local.hcl", as("variables {\n  own = <<EOT\ne\nEOT\n}\n"), "")
		testkit.None(t, ds.Err())
		s, _, ds := pipeline.Open(map[string][]byte{"p.hcl": as(source)}, pipeline.Options{
			Registry: kinds(), VarFiles: []pipeline.File{{Name: "v.hcl", Bytes: as(variables)}},
			Local: set.Variables,
			World: pipeline.World{ReadFile: func(string) ([]byte, error) { return as(template), nil }},
		})
		testkit.None(t, ds.Err())
		m := map[string]string{}
		for _, name := range []string{"var.v", "var.given", "var.own", "local.plain", "local.parts", "local.quoted", "local.template", "local.file"} {
			v, _ := s.Named(name)
			m[name] = v.AsString()
		}
		return m
	}
	unix := values("\n")
	for name, got := range values("\r\n") {
		want := unix[name]
		if name == "local.file" {
			want = strings.ReplaceAll(want, "\n", "\r\n")
		}
		testkit.Is(t, got, want, name)
	}
	testkit.Is(t, unix["local.quoted"], "a\r\nb")
}

// TestForEachOfSet: toset() in a for_each, which need not be made, is what it is elsewhere, mistakes too.
func TestForEachOfSet(t *testing.T) {
	said := func(locals, forEach string) string {
		src := fmt.Sprintf("locals {\n%s}\nvariable \"s\" {\n  sensitive = true\n}\n"+
			"step \"download\" \"a\" {\n  url      = \"https://x/${each.key}/${each.value}\"\n  for_each = %s\n}\n", locals, forEach)
		p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds(), Vars: map[string]string{"s": "x"}})
		var b strings.Builder
		for _, d := range ds.List {
			fmt.Fprintf(&b, "%s: %s\n", d.Summary, d.Detail)
		}
		if p != nil {
			for _, s := range p.Steps {
				fmt.Fprintf(&b, "%s %s\n", s.Address, s.Task.Config)
			}
		}
		return b.String()
	}
	for list, want := range map[string]string{
		`["b", "a", "b"]`:                 `step.download.a["a"]`,
		`["b", 1, true]`:                  `step.download.a["true"]`,
		`tolist(["b", "a", "b"])`:         `step.download.a["b"]`,
		`toset(["b", "a"])`:               `step.download.a["b"]`,
		`keys({ y = 1, x = 2 })`:          `step.download.a["y"]`,
		`[for i in range(3) : "k${i}"]`:   `step.download.a["k2"]`,
		`[]`:                              "",
		`["a", null]`:                     "an element that is null",
		`[1, 2]`:                          "an element that is a number",
		`["a", ["b"]]`:                    "Invalid function argument",
		`["a", "", "a"]`:                  "It has an empty key",
		`null`:                            "It is null",
		`"text"`:                          "Invalid function argument",
		`{ a = "b" }`:                     "Invalid function argument",
		`["a", var.s]`:                    "Sensitive value",
		`[for s in ["a", "b"] : no.such]`: "Unknown name",
	} {
		direct := said("", "toset("+list+")")
		if through := said("  k = toset("+list+")\n", "local.k"); !strings.Contains(direct, want) || direct != through {
			t.Errorf("%s is %s, and by a local %s; want %q", list, direct, through, want)
		}
	}
}

// TestSweep: every load warns of the axes of a sweep that its block does not use, and of no others.
func TestSweep(t *testing.T) {
	const grid = `product({ rate = ["0.1", "0.2"], seed = ["1", "2", "3"] })`
	for _, c := range []struct{ forEach, body, want string }{
		{grid, `url = each.value.rate`, "depend on each.value.seed, so its 6 instances are 2 steps"},
		{grid, `url = each.value["seed"]`, "depend on each.value.rate, so its 6 instances are 3 steps"},
		{grid, `url = "x"`, "refers to each.key or each.value, so its 6 instances are the same step"},
		{grid, `url = "${each.value.rate} ${each.value.seed}"`, ""},
		{grid, `url = each.key`, ""},
		{grid, `url = join(" ", values(each.value))`, ""},
		{grid, `url = each.value[local.axis]`, "depend on each.value.seed, so its 6 instances are 2 steps"},
		{grid, `url = local.rates[each.key]`, "depend on each.value.seed, so its 6 instances are 2 steps"},
		{grid, "url = each.value.rate\nresources {\n  cpus = tonumber(each.value.seed)\n}", "depend on each.value.seed, so its 6 instances are 2 steps"},
		{grid, "url = each.value.rate\nwhen = each.value.seed != \"3\"", "depend on each.value.seed, so its 4 instances are 2 steps"},
		{grid, "url = each.value.rate\nwhen = each.value.seed == \"3\"", ""},
		{`{ for p in setproduct(["u", "v"], ["1", "2"]) : "${p[0]}/${p[1]}" => p }`, `url = each.value[0]`, "depend on each.value[1], so its 4 instances are 2 steps"},
		{`product({ a = ["x", "y"], b = ["u", "v"], c = ["p", "q"] })`, `url = each.value.a`, "depend on each.value.b or each.value.c, so its 8 instances are 2 steps"},
		{`product({ rate = ["0.1", "0.2"], seed = ["1"] })`, `url = each.value.rate`, ""},
		{`{ for s in ["1", "2"] : "s${s}" => { url = "u", seed = s } }`, `url = each.value.url`, "depend on each.value.seed, so its 2 instances are 1 step"},
		// Values that say more of each than this block needs: a title, two systems that share a step.
		{`{ a = { url = "u", title = "A" }, b = { url = "v", title = "B" } }`, `url = each.value.url`, ""},
		{`{ a = { url = "u", title = "A" }, b = { url = "v", title = "B" }, c = { url = "v", title = "C" } }`, `url = each.value.url`, ""},
		{`["a", "b"]`, `url = each.value`, ""},
		{`["a"]`, `url = "x"`, ""},
		{grid, `url = var.secret`, "are the same step"},
		{`{ a = { url = "u", x = var.secret }, b = { url = "u", x = "y" } }`, `url = each.value.url`, ""},
	} {
		src := "locals {\n  axis = \"rate\"\n  rates = { for k, v in " + grid + " : k => v.rate }\n}\nvariable \"secret\" {\n  sensitive = true\n}\noutput \"axis\" {\n  value = [local.axis, local.rates]\n}\nstep \"download\" \"a\" {\n  for_each = " + c.forEach + "\n" + c.body + "\n}\n"
		p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds(), Vars: map[string]string{"secret": "s"}})
		sweeps := lists.Filter(ds.List, func(d *hcl.Diagnostic) bool {
			return d.Summary == "Unused axis" || d.Summary == "Instances without a difference"
		})
		text := strings.Join(lists.Map(sweeps, func(d *hcl.Diagnostic) string { return d.Detail }), "\n")
		if p == nil && !strings.Contains(src, "var.secret") || (c.want == "") != (text == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s with %s: %q, %v", c.forEach, c.body, text, ds.Err())
		}
	}
	module := map[string]string{"./m": "variable \"rate\" {}\nstep \"download\" \"a\" {\n  url = var.rate\n}\n"}
	_, ds, _ := withModule("module \"m\" {\n  source = \"./m\"\n  for_each = "+grid+"\n  rate = each.value.rate\n}\n", module, pipeline.Options{Registry: kinds()})
	if len(ds.List) != 1 || !strings.Contains(ds.List[0].Detail, "What module.m computes does not depend on each.value.seed") {
		t.Errorf("a module: %v", ds.List)
	}
}
