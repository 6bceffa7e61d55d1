package pipeline_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/step"
)

const scoped = `
variable "n" { default = 2 }
variable "token" {
  sensitive = true
  type      = string
}
locals {
  sizes = { tiny = 1, base = var.n, "x/y" = 0.5 }
  names = ["é", "b"]
}
step "download" "nq" {
  for_each = local.sizes
  url      = each.key
}
step "download" "alone" { url = "x" }
`

func TestScope(t *testing.T) {
	sources := map[string][]byte{"p.hcl": []byte(scoped)}
	s, _, ds := pipeline.Open(sources, pipeline.Options{Registry: kinds(), Vars: map[string]string{"token": "s3cret"}})
	if ds.HasErrors() || s == nil {
		t.Fatal(ds.Err())
	}
	for expression, want := range map[string]string{
		"var.n + 1":                           "3",
		"local.names":                         `["é", "b"]`,
		"local.sizes":                         "{ base = 2, tiny = 1, \"x/y\" = 0.5 }",
		"keys(step.download.nq)":              `["base", "tiny", "x/y"]`,
		"step.download.alone.file":            "step.download.alone.file # note",
		"step.download.nq[*].file":            "[\n  step.download.nq[\"base\"].file, # note\n  step.download.nq[\"tiny\"].file, # note\n  step.download.nq[\"x/y\"].file,  # note\n]",
		"[var.token]":                         "[(sensitive)]",
		"toset([])":                           "toset([])",
		"{}":                                  "{}",
		"null":                                "null",
		"contains([1], null)":                 "false",
		"contains([1, null], null)":           "true",
		`contains(["a"], yamldecode("~"))`:    "false",
		`toset(["a", null])`:                  `toset(["a", null])`,
		`setunion(["a", null], ["b"])`:        `toset(["a", "b", null])`,
		"keys(product({ b = [1], a = [2] }))": `["1/2"]`,
		`"e\u0301"`:                           `"é"`,
	} {
		v, ds := s.Value(pipeline.WholeExpression("<test>", []byte(expression)))
		if ds.HasErrors() {
			t.Errorf("%s: %v", expression, ds.Err())
			continue
		}
		if got := language.Text(v, func(step.Ref) string { return "note" }); got != want {
			t.Errorf("%s = %s, want %s", expression, got, want)
		}
	}
	for expression, want := range map[string]string{
		"local.size":   `Did you mean "sizes"?`,
		"1 +":          "expression",
		"step.a.b":     "There is no step.a.b",
		"plan.n":       `There is no "plan"`,
		"var.n.x":      "      | ",
		"each.key":     "for_each",
		"range(1e9)":   "more than 1024",
		`file("none")`: "none",
	} {
		_, ds := s.Value(pipeline.WholeExpression("<test>", []byte(expression)))
		if !ds.HasErrors() || !strings.Contains(ds.Err().Error(), want) {
			t.Errorf("%s: got %v, want %q", expression, ds.Err(), want)
		}
	}
	x := pipeline.WholeExpression("<test>", []byte("plan.n + var.n"))
	x.With = map[string]cty.Value{"plan": cty.ObjectVal(map[string]cty.Value{"n": cty.NumberIntVal(40)})}
	if v, ds := s.Value(x); ds.HasErrors() || language.Text(v, nil) != "42" {
		t.Errorf("given values: %v, %v", v, ds.Err())
	}
	if v, ok := s.Named("local.names"); !ok || language.Text(v, nil) != `["é", "b"]` {
		t.Errorf("local.names: %v", v)
	}
	if _, ok := s.Named("local.none"); ok {
		t.Error("local.none is there")
	}
}

// TestScopeOfMistakes: what could be evaluated is there, the rest unknown.
func TestScopeOfMistakes(t *testing.T) {
	s, p, ds := pipeline.Open(map[string][]byte{"p.hcl": []byte("locals {\n  a = 1\n  b = local.c\n}\n")}, pipeline.Options{Registry: kinds()})
	if s == nil || p != nil || !ds.HasErrors() {
		t.Fatal("want a scope, no pipeline and errors")
	}
	for name, want := range map[string]string{"local.a": "1", "local.b": "(not known)"} {
		if v, _ := s.Named(name); language.Text(v, nil) != want {
			t.Errorf("%s = %s, want %s", name, language.Text(v, nil), want)
		}
	}
	if s, _, _ := pipeline.Open(map[string][]byte{"p.hcl": []byte("locals {")}, pipeline.Options{}); s != nil {
		t.Error("a scope of what is no HCL")
	}
}

// TestOpenReads: a block whose value is kept is not one that nothing reads. One whose for_each waits for
// a step has no value to keep, and a claim has none.
func TestOpenReads(t *testing.T) {
	sources := map[string][]byte{"p.hcl": []byte(`
step "download" "unread" { url = "x" }
step "download" "late" { url = json(step.command.split.out, "a.json:url") }
step "download" "later" {
  for_each = files(step.command.split.out, "*")
  url      = each.key
}
step "command" "split" { outputs = ["a.json", "chunks/"] }
table "t" { data = step.command.split.out }
claim "c" { text = "It is so." }
`)}
	type said struct {
		Text string `hcl:"text" help:"x"`
	}
	claims := step.Define(step.Kind[said]{Name: declare.ClaimKind, Version: 1, Doc: "Says.", Block: true, Outputs: []step.Output{{Name: "report", Type: "text"}}, Run: noRun[said]})
	o := pipeline.Options{Registry: step.NewRegistry(append(kinds().Kinds(), claims)...), Lint: true}
	unused := func(ds pipeline.Diagnostics) (names []string) {
		for _, d := range ds.List {
			if d.Summary == "Unused source" {
				names = append(names, strings.Fields(d.Detail)[2])
			}
		}
		return names
	}
	_, ds := pipeline.Load(sources, o)
	if got := strings.Join(unused(ds), " "); got != "step.download.unread, step.download.late, step.download.later," {
		t.Errorf("loaded: nothing reads %s", got)
	}
	s, p, ds := pipeline.Open(sources, o)
	if got := strings.Join(unused(ds), " "); p == nil || got != "step.download.later," {
		t.Errorf("opened: nothing reads %s, %v", got, ds.Err())
	}
	for name, known := range map[string]bool{"step.download.unread": true, "step.download.late": true, "step.download.later": false, "table.t": true, "claim.c": false} {
		if v, ok := s.Named(name); !ok || v.IsKnown() != known {
			t.Errorf("%s is %v, %t", name, v, ok)
		}
	}
}
