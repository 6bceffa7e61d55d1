package declare_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

type form struct {
	Text string      `hcl:"text,optional" help:"a text"`
	Data step.Inputs `hcl:"data,optional" help:"artifacts"`
}

// registry has a kind for each type of block, and one for steps.
func registry() *step.Registry {
	kind := step.Kind[form]{Name: "work", Version: 1, Doc: "Work.", Outputs: []step.Output{{Name: "out"}}, Run: func(context.Context, *step.IO, form) error { return nil }}
	list := []step.Spec{step.Define(kind)}
	for _, t := range declare.Types {
		if kind.Block, kind.Name = true, t.Kind; t.Kind != "" {
			list = append(list, step.Define(kind))
		}
	}
	return step.NewRegistry(list...)
}

const inner = "variable \"x\" { default = 1 }\noutput \"y\" { value = var.x }\npublish \"p\" {}\n"

// declared is what a file declares, with a module ./m beside it.
func declared(src string) (*declare.Module, syntax.Diagnostics) {
	const file = "p.hcl"
	sources := map[string][]byte{file: []byte(src)}
	d, asked := syntax.NewCollector(sources), 0
	s := language.NewSession(sources, language.World{}, d, func() error {
		if asked++; asked > 16 {
			return errors.New("enough")
		}
		return nil
	})
	o := declare.Options{Registry: registry(), Lint: true, Module: func(folder, source string) (map[string][]byte, error) {
		switch source {
		case "./m":
			return map[string][]byte{"m/m.hcl": []byte(inner)}, nil
		case "./p":
			return sources, nil
		}
		return nil, errors.New("there is none")
	}}
	m := declare.Declare(s, sources, o).Root
	for _, n := range m.Nodes {
		if n.Call != nil && n.Call.Module != nil {
			n.Call.Module()
		}
	}
	return m, d.Done()
}

// FuzzDeclare: each block is declared once or reported, and in the same way each time.
func FuzzDeclare(f *testing.F) {
	for _, t := range declare.Types {
		f.Add(t.Name + " {}\n" + t.Name + " \"a\" { x = 1 }\n" + t.Name + " \"a\" \"b\" {\n  x {}\n}\n" + t.Name + " \"work\" \"b\" {}\n")
	}
	f.Add("module \"a\" { source = \"./m\" }\nmodule \"b\" {\n  source = \"./m\"\n  x = 2\n}\nmodule \"p\" { source = \"./p\" }\nmodule \"n\" { source = 3 }\n")
	f.Add("variable \"v\" {\n  type = list(string)\n  default = [1]\n  sensitive = true\n  ask = \"?\"\n  validation {}\n}\nx = 1\n")
	f.Add("step \"work\" \"a\" {\n  for_each = {}\n  when = true\n  otherwise = 1\n  keep = false\n  allow_empty = 2\n  retry { times = 1 }\n  resources {}\n  check \"c\" {}\n  check {}\n}\n")
	for _, dir := range []string{"valid", "invalid"} {
		sources, err := syntax.ReadAll("../testdata/" + dir)
		testkit.None(f, err)
		for _, name := range syntax.Keys(sources) {
			if src := sources[name]; len(src) < 4000 {
				f.Add(string(src))
			}
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		m, ds := declared(src)
		if m.Broken() {
			if !ds.HasErrors() {
				t.Error("broken, and nothing is said to be wrong")
			}
			return
		}
		indexes := map[int]string{}
		for name, n := range m.ByName {
			if was, again := indexes[n.Index]; n.Name != name || again || n.Index >= len(m.ByName) {
				t.Errorf("%s is %s with the index %d of %d, also of %q", name, n.Name, n.Index, len(m.ByName), was)
			}
			indexes[n.Index] = name
		}
		for _, n := range m.Nodes {
			testkit.Is(t, m.ByName[n.Name], n, n.Name)
		}
		for _, b := range m.Bodies[0].Blocks {
			if !isDeclared(m, b) && !reported(ds, b.Range()) {
				t.Errorf("neither declared nor reported: %s %q\n%s", b.Type, b.Labels, ds.Lines())
			}
		}
		again, more := declared(src)
		if d := cmp.Diff(ds.Lines(), more.Lines()); d != "" || len(again.Nodes) != len(m.Nodes) {
			t.Errorf("declared again: %d nodes, not %d\n%s", len(again.Nodes), len(m.Nodes), d)
		}
	})
}

func isDeclared(m *declare.Module, b *hclsyntax.Block) bool {
	t := declare.Of(b.Type)
	name, named := declare.NameOf(b)
	switch {
	case t == nil:
		return false
	case t.Makes == declare.MakesValue:
		for a := range b.Body.Attributes {
			if m.ByName["local."+a] == nil {
				return false
			}
		}
		return true
	case t.Makes == declare.MakesOnce:
		return m.Once[b.Type] == b
	case t.Makes == declare.MakesVariable:
		return named && m.Variables[b.Labels[0]] != nil
	}
	return named && m.ByName[name] != nil
}

func reported(ds syntax.Diagnostics, within hcl.Range) bool {
	for _, d := range ds.List {
		if d.Severity == hcl.DiagError && within.Start.Byte <= d.Subject.Start.Byte && d.Subject.End.Byte <= within.End.Byte {
			return true
		}
	}
	return false
}

// FuzzNames: the name of a block is an address of its type, depth and labels.
func FuzzNames(f *testing.F) {
	f.Add("work", "a-b_1")
	f.Add("", "é")
	f.Fuzz(func(t *testing.T, kind, name string) {
		for i := range declare.Types {
			b := &hclsyntax.Block{Type: declare.Types[i].Name, Labels: []string{kind, name}[2-len(declare.Types[i].Labels):]}
			is, ok := declare.NameOf(b)
			if ok != (len(b.Labels) > 0) {
				t.Errorf("%s %q: %q, %t", b.Type, b.Labels, is, ok)
			}
			if !utf8.ValidString(kind+name) || !hclsyntax.ValidIdentifier(kind) || !hclsyntax.ValidIdentifier(name) || !ok {
				continue
			}
			a := address.Of(is)
			if depth := declare.Depth(a.Type()); a.Label() != name || a.Name+a.Modules != strings.TrimSuffix(is, ".") || depth != 0 && strings.Count(is, ".") != depth-1 {
				t.Errorf("%s is the address %+v, of depth %d", is, a, depth)
			}
			if declare.Types[i].Outputs() && a.Type() != b.Type {
				t.Errorf("%s is of type %s", is, a.Type())
			}
		}
	})
}

// TestDeclare: what the blocks of a file are, in their order.
func TestDeclare(t *testing.T) {
	m, ds := declared(`locals {
  b = 1
  a = 2
}
step "work" "s" {
  for_each = { k = 1 }
  retry { times = 2 }
}
variable "v" { sensitive = true }
module "m" { source = "./m" }
output "o" { value = local.a }
environment "e" { uv = "uv.lock" }
results {}
`)
	testkit.None(t, ds.Err())
	nodes := lists.Map(m.Nodes, func(n *declare.Node) string { return fmt.Sprint(n.Index, " ", n.Name, " ", n.ForEach() != nil) })
	want := []string{"0 local.b false", "1 local.a false", "2 step.work.s true", "3 module.m false", "4 output.o false", "5 environment.e false"}
	testkit.Deep(t, nodes, want)
	if m.Variables["v"] == nil || !m.AnySensitive() || m.Once["results"] == nil || m.ByName["step.work.s"].Block.Retry == nil {
		t.Errorf("%+v", m)
	}
	of := m.ByName["module.m"].Call.Module()
	if of != m.ByName["module.m"].Call.Module() || of.Variables["x"] == nil || of.ByName["output.y"] == nil {
		t.Errorf("the module is %+v", of)
	}
	if warned := ds.Lines(); len(ds.List) != 1 || !strings.Contains(ds.List[0].Summary, "publish in a module") {
		t.Errorf("warnings %q", warned)
	}
}

// TestBlockTypes: the table says the same of a type of block wherever it says something of it.
func TestBlockTypes(t *testing.T) {
	roots := map[string]bool{"each": true}
	for i, b := range declare.Types {
		testkit.Is(t, declare.Of(b.Name), &declare.Types[i], b.Name)
		if b.Kind != "" && declare.OfKind(b.Kind) != &declare.Types[i] {
			t.Errorf("%s: another type stands for %s", b.Name, b.Kind)
		}
		parsed := snippet(t, b.Snippet)
		testkit.Is(t, parsed.Type, b.Name)
		testkit.Is(t, len(parsed.Labels), len(b.Labels))
		name, named := declare.NameOf(parsed)
		testkit.Is(t, named, (len(b.Labels) > 0), b.Name, name)
		if b.Root == "" {
			continue
		}
		roots[b.Root] = true
		depth := declare.Depth(b.Root)
		if !named {
			continue
		}
		if strings.Count(name, ".") != depth-1 || !strings.HasPrefix(name, b.Root+".") {
			t.Errorf("%s: %s has depth %d", b.Name, name, depth)
		}
		if a, _ := address.Output(name + ".x"); b.Outputs() && (a != name || address.Of(a).Type() != b.Name) {
			t.Errorf("%s: %s.x is an output of %s", b.Name, name, a)
		}
	}
	testkit.Deep(t, slices.Sorted(maps.Keys(roots)), slices.Sorted(slices.Values(declare.Roots)))
	if declare.Of("steps") != nil || declare.OfKind("") != nil || declare.Depth("") != 0 || declare.Depth("local") != 2 || declare.Depth("each") != 0 {
		t.Error("what is no type has one")
	}
}

var (
	placeholder = regexp.MustCompile(`\$\{\d:(\w+)\}`)
	hole        = regexp.MustCompile(`\$\d`)
)

// snippet is the block that one is, with its names and without what is to be filled in.
func snippet(t *testing.T, text string) *hclsyntax.Block {
	t.Helper()
	text = placeholder.ReplaceAllString(text, "$1")
	text = hole.ReplaceAllString(regexp.MustCompile(`= \$\d`).ReplaceAllString(text, "= 2"), "")
	f, ds := hclsyntax.ParseConfig([]byte(text+"\n"), "", hcl.InitialPos)
	if ds.HasErrors() {
		t.Fatalf("%s\n%s", text, ds)
	}
	return f.Body.(*hclsyntax.Body).Blocks[0]
}
