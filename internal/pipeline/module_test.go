package pipeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// withModule loads a pipeline with modules by their sources, and tells for which sources files were asked.
func withModule(root string, modules map[string]string, o pipeline.Options) (p *pipeline.Pipeline, ds pipeline.Diagnostics, asked []string) {
	o.Module = func(_, source string) (map[string][]byte, error) {
		asked = append(asked, source)
		return map[string][]byte{strings.TrimPrefix(source, "./") + "/m.hcl": []byte(modules[source])}, nil
	}
	p, ds = pipeline.Load(map[string][]byte{"p.hcl": []byte(root)}, o)
	return p, ds, asked
}

func summaries(ds pipeline.Diagnostics) []string {
	return lists.Map(ds.List, func(d *hcl.Diagnostic) string { return d.Summary })
}

// TestModuleDeclaredOnce: a module's mistakes are reported once, in its first instance; without instances, not at all.
func TestModuleDeclaredOnce(t *testing.T) {
	const call = "module \"m\" {\n  source   = \"./m\"\n  for_each = %s\n  x        = each.key\n}\n"
	const module = "variable \"x\" {}\nmodule \"inner\" {\n  source = \"./inner\"\n}\nstep \"download\" \"d\" { url = var.x }\n"
	wrong := module + "stap \"download\" \"e\" {}\nlocals { a = local.b }\n"
	for _, c := range []struct {
		keys, module, asked, diagnostics, steps string
	}{
		{`["a", "b"]`, module, "[./m ./inner]", "[Unused variable]", `[module.m["a"].step.download.d module.m["a"].module.inner.step.download.i module.m["b"].step.download.d module.m["b"].module.inner.step.download.i]`},
		{`[]`, module, "[./m]", "[Unused variable]", "[]"},
		{`["a", "b"]`, wrong, "[./m ./inner]", "[Unknown block type Undeclared local value]", ""},
		{`[]`, wrong, "[./m]", "[Unused variable]", "[]"},
		{`["a"`, wrong, "[]", "[Missing item separator]", ""},
	} {
		p, ds, asked := withModule(fmt.Sprintf(call, c.keys)+"variable \"unused\" { default = 1 }\n", map[string]string{"./m": c.module, "./inner": "step \"download\" \"i\" { url = \"x\" }\n"}, pipeline.Options{Registry: kinds()})
		testkit.Deep(t, c.keys+fmt.Sprint(asked)+fmt.Sprint(summaries(ds)), c.keys+c.asked+c.diagnostics)
		steps := ""
		if p != nil {
			steps = fmt.Sprint(lists.Map(p.Steps, func(s pipeline.Step) string { return s.Address }))
			if read := slices.Contains(syntax.Keys(p.Modules), "m/m.hcl"); read != (len(p.Steps) > 0) || len(p.Origin().Modules) != len(asked) {
				t.Errorf("%s: files of modules %v, and of its origin %d", c.keys, syntax.Keys(p.Modules), len(p.Origin().Modules))
			}
		}
		testkit.Deep(t, c.keys+steps, c.keys+c.steps)
		for _, d := range ds.List {
			if at := syntax.Related(d); d.Subject.Filename == "m/m.hcl" && (len(at) != 1 || at[0].Text != `in module.m["a"]`) {
				t.Errorf("%s: %s is in %v", c.keys, d.Summary, at)
			}
		}
	}
}

// TestBlocksOfModule: which blocks that a pipeline has once, or that are about a run, say something in a module.
func TestBlocksOfModule(t *testing.T) {
	const limit = "limits { x = 2 }\nstep \"command\" \"c\" {\n  argv = [\"x\"]\n  resources { limits = [\"x\"] }\n}\n"
	for _, c := range []struct{ module, diagnostics, limits string }{
		{"paper { titel = 1 }\n", "[]", ""},
		{"paper {}\npaper {}\n", "[Declared twice]", ""},
		{"paper \"x\" {}\n", "[Wrong labels]", ""},
		{"results { form = 1 }\n", "[Results of a module]", ""},
		{"results { trust = [\"" + aliceKey + "\"] }\n", "[Results of a module]", ""},
		{"results {}\nresults {}\n", "[Results of a module Declared twice]", ""},
		{"checklist { selektion = \"x\" }\n", "[Unknown attribute]", ""},
		{"checklist { selection = local.x }\nlocals { x = \"x\" }\n", "[Not a constant]", ""},
		{"checklist { acl = { Z9 = \"x\" } }\n", "[Value not allowed]", ""},
		{"checklist { selection = \"x\" }\n", "[]", ""},
		{limit, "[]", "map[module.m.x:2]"},
		{strings.Replace(limit, "[\"x\"] }", "[\"y\"] }", 1), "[Unknown limit]", ""},
		{"limits { x = 0 }\n", "[Wrong value]", ""},
		{"publish \"p\" { too = \"x\" }\n", "[publish in a module Unknown attribute]", ""},
		{"publish \"p\" {\n  files = [1]\n  to    = \"/x\"\n}\n", "[publish in a module]", ""},
	} {
		p, ds, _ := withModule("module \"m\" { source = \"./m\" }\n", map[string]string{"./m": c.module}, pipeline.Options{Registry: kinds(), Lint: true})
		ds.List = slices.DeleteFunc(ds.List, func(d *hcl.Diagnostic) bool { return d.Summary == "Unused module" })
		testkit.Is(t, fmt.Sprint(summaries(ds)), c.diagnostics, c.module)
		if p == nil {
			continue
		}
		if p.Checklist.Selection.Text != "" || p.Paper.Title != "" || len(p.Publish) > 0 || len(p.Results.Trust) > 0 {
			t.Errorf("%s: it says %+v, %+v, %+v and %+v of the pipeline", c.module, p.Checklist, p.Paper, p.Publish, p.Results)
		}
		if c.limits != "" && (fmt.Sprint(p.Limits) != c.limits || fmt.Sprint(p.Steps[0].Resources.Limits) != "[module.m.x]") {
			t.Errorf("%s: limits %v", c.module, p.Limits)
		}
	}
}

// TestDefaultOfModulesSensitive: a module's sensitive variable is a secret by what it is given; a null default is none.
func TestDefaultOfModulesSensitive(t *testing.T) {
	const source = "variable \"token\" {\n  type      = string\n  sensitive = true\n  default   = null\n}\nstep \"command\" \"c\" { argv = [coalesce(var.token, \"x\")] }\n"
	p, ds, _ := withModule("module \"m\" { source = \"./m\" }\n", map[string]string{"./m": source}, pipeline.Options{Registry: kinds()})
	if p == nil || string(p.Steps[0].Task.Config) != `{"argv":["x"],"script":""}` || len(p.Secrets) > 0 {
		t.Errorf("in a module: %v", ds.Err())
	}
	if _, ds, _ := withModule(source, nil, pipeline.Options{Registry: kinds()}); fmt.Sprint(summaries(ds)) != "[Sensitive value]" {
		t.Errorf("in the pipeline: %v", ds.Err())
	}
}

// TestSlipsOfInstances: an attribute that was written with a slip is not missing, in that instance or in each.
func TestSlipsOfInstances(t *testing.T) {
	const call = "module \"m\" {\n  source   = \"./m\"\n  for_each = toset(%s)\n  key      = each.key\n}\n"
	const given = "variable \"key\" {}\ntable \"t\" { rows = [{ (var.key) = \"x\" }] }\n"
	for _, c := range []struct{ keys, module, want string }{
		{`["labl"]`, given, "[Unknown attribute]"},
		{`["labl", "zzzzzzzz"]`, given, "[Missing attribute Unknown attribute Unknown attribute]"},
		{`["labl", "lable"]`, given, "[Unknown attribute Unknown attribute]"},
		{`["a", "b"]`, "variable \"key\" {}\nstep \"download\" \"d\" { uri = var.key }\n", "[Unknown attribute]"},
	} {
		_, ds, _ := withModule(fmt.Sprintf(call, c.keys), map[string]string{"./m": c.module}, pipeline.Options{Registry: kinds()})
		testkit.Is(t, fmt.Sprint(summaries(ds)), c.want, c.keys, ds.Err())
	}
}

// TestModuleWhen: a module whose when is false is left out with its reason; try, [*] and for_each see what there is.
func TestModuleWhen(t *testing.T) {
	const module = "variable \"x\" {}\nstep \"download\" \"d\" { url = \"https://x/${var.x}\" }\noutput \"files\" { value = step.download.d.file }\n"
	for root, want := range map[string]string{
		"module \"m\" {\n  source = \"./m\"\n  x = 1\n  when = true\n}\n":                                                                                    "module.m.step.download.d",
		"module \"m\" {\n  source = \"./m\"\n  x = 1\n  when = false\n  otherwise = \"No card.\"\n}\n":                                                       "skipped module.m: No card.",
		"module \"m\" {\n  source = \"./m\"\n  x = 1\n  when = 1 > 2\n}\noutput \"o\" { value = try(module.m.file, null) }\n":                                "skipped module.m: its when is false (p.hcl:4)",
		"module \"m\" {\n  source = \"./m\"\n  x = 1\n  when = false\n}\noutput \"o\" { value = module.m.file }\n":                                           "Skipped step: module.m does not run: its when is false (p.hcl:4). Take what may be skipped by try(module.m.…, …).",
		"module \"m\" {\n  for_each = toset([\"a\", \"b\"])\n  source = \"./m\"\n  x = each.key\n  when = each.key == \"b\"\n}\n":                            `module.m["b"].step.download.d skipped module.m["a"]: its when is false (p.hcl:5)`,
		"module \"m\" {\n  source = \"./m\"\n  x = 1\n  when = \"maybe\"\n}\n":                                                                               "Wrong type: ",
		"module \"m\" {\n  source = \"./m\"\n  x = 1\n  otherwise = \"so\"\n}\n":                                                                             "Not an attribute: otherwise says why",
		"step \"download\" \"s\" { url = \"https://y\" }\nmodule \"m\" {\n  source = \"./m\"\n  x = 1\n  when = json(step.download.s.file, \"a\") == 1\n}\n": "Modules that are not known: ",
	} {
		p, ds, _ := withModule(root, map[string]string{"./m": module}, pipeline.Options{Registry: kinds()})
		said := lists.Map(ds.List, func(d *hcl.Diagnostic) string { return d.Summary + ": " + d.Detail })
		if p != nil {
			said = append(said, lists.Map(p.Steps, func(s pipeline.Step) string { return s.Address })...)
			for _, s := range p.Skipped {
				said = append(said, "skipped "+s.Address+": "+s.Reason())
			}
		}
		if got := strings.Join(said, " "); !strings.HasPrefix(got, want) || want == "" {
			t.Errorf("%s\n got %s\nwant %s", root, got, want)
		}
	}
}

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
		testkit.Is(t, language.Text(v, func(step.Ref) string { return "note" }), want, expression)
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
		testkit.ErrSays(t, ds.Err(), want)
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
	if v, _ := opened("locals {\n  a = 1\n  b = local.c\n}\n").Named("local.a"); language.Text(v, nil) != "1" {
		t.Errorf("beside a mistake local.a is %v", v)
	}
	if opened("locals {") != nil {
		t.Error("a scope of what is no HCL")
	}
}

func opened(src string) *pipeline.Scope {
	s, _, _ := pipeline.Open(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds()})
	return s
}

// TestOpenReads: a kept value counts as read, but a claim has none, nor a block whose for_each waits for a step.
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
	unused := func(ds pipeline.Diagnostics) []string {
		list := lists.Filter(ds.List, func(d *hcl.Diagnostic) bool { return d.Summary == "Unused source" })
		return lists.Map(list, func(d *hcl.Diagnostic) string { return strings.Fields(d.Detail)[2] })
	}
	_, ds := pipeline.Load(sources, o)
	testkit.Deep(t, strings.Join(unused(ds), " "), "step.download.unread, step.download.late, step.download.later,")
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
