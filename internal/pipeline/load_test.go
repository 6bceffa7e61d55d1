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

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/local"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/lists"
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
	errtest.None(t, err)
	o := options(t, slices.Concat(lists.Map(syntax.Keys(sources), func(name string) []byte { return sources[name] })...))
	o.Lint = filepath.Base(filepath.Dir(name)) == "lint"
	return pipeline.Load(sources, o)
}

// report is what a person is told.
func report(t *testing.T, ds pipeline.Diagnostics) string {
	t.Helper()
	var b strings.Builder
	errtest.None(t, ds.Write(&b, pipeline.Style{Width: 100}))
	return b.String()
}

// Every entry of testdata/invalid must not load, and has a golden of its diagnostics. A new entry is a new test.
func TestInvalid(t *testing.T) {
	for _, name := range entries(t, "testdata/invalid") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			p, ds := load(t, name)
			if p != nil || !ds.HasErrors() {
				t.Errorf("it loads")
			}
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
			errtest.None(t, ds.Err())
			goldens.Same(t, strings.TrimSuffix(name, ".hcl")+".golden", report(t, ds)+text(t, p))

			again, ds := pipeline.Load(p.Sources, pipeline.Options{Registry: kinds(), Vars: p.Inputs(), World: pipeline.World{Found: p.Found}, Module: modulesOf(p)})
			if ds.HasErrors() {
				t.Fatalf("from its own sources and inputs: %v", ds.Err())
			}
			if d := cmp.Diff(text(t, p), text(t, again)); d != "" {
				t.Errorf("loaded again from its own sources and inputs (-first +second):\n%s", d)
			}
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
	errtest.None(t, err)
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
	errtest.None(t, err)
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
		errtest.None(t, err)
		var config bytes.Buffer
		e := json.NewEncoder(&config)
		e.SetEscapeHTML(false)
		e.SetIndent("  ", "  ")
		errtest.None(t, e.Encode(short(tree)))
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
		errtest.None(t, ds.Err())
		if got := string(p.Vars["x"]); got != `"`+want+`"` || p.Inputs()["x"] != want {
			t.Errorf("x is %s, as an argument %s, want %s", got, p.Inputs()["x"], want)
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
	errtest.Says(t, ds.Err(), "redsi.local.hcl:2")
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
		if got != want || !ds.HasErrors() {
			t.Errorf("%s\nasks %q, want %q: %v", source, got, want, ds.Err())
		}
		if want == "" {
			continue
		}
		_, ds = pipeline.Load(map[string][]byte{"p.hcl": []byte(source)}, pipeline.Options{Vars: map[string]string{"a": ""}})
		if len(ds.Questions) > 0 {
			t.Errorf("%s\nis asked though it is set", source)
		}
	}
	_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte("variable \"a\" {\n  ask       = \"A?\"\n  sensitive = true\n}")}, pipeline.Options{})
	errtest.Says(t, ds.Err(), "answers are kept in a file")
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
		errtest.None(t, ds.Err())
		s, _, ds := pipeline.Open(map[string][]byte{"p.hcl": as(source)}, pipeline.Options{
			Registry: kinds(), VarFiles: []pipeline.File{{Name: "v.hcl", Bytes: as(variables)}},
			Local: set.Variables,
			World: pipeline.World{ReadFile: func(string) ([]byte, error) { return as(template), nil }},
		})
		errtest.None(t, ds.Err())
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
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if unix["local.quoted"] != "a\r\nb" {
		t.Errorf("%q", unix["local.quoted"])
	}
}
