package pipeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// withModule loads a pipeline whose modules are these files, by what their source says, and tells
// for which sources files were asked.
func withModule(root string, modules map[string]string, o pipeline.Options) (p *pipeline.Pipeline, ds pipeline.Diagnostics, asked []string) {
	o.Module = func(_, source string) (map[string][]byte, error) {
		asked = append(asked, source)
		return map[string][]byte{strings.TrimPrefix(source, "./") + "/m.hcl": []byte(modules[source])}, nil
	}
	p, ds = pipeline.Load(map[string][]byte{"p.hcl": []byte(root)}, o)
	return p, ds, asked
}

func summaries(ds pipeline.Diagnostics) (list []string) {
	for _, d := range ds.List {
		list = append(list, d.Summary)
	}
	return list
}

// TestModuleDeclaredOnce: a module is declared by its first instance, so that its mistakes are
// reported once, with the place of that instance, and those of one without instances are not.
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
		if got := fmt.Sprint(asked); got != c.asked {
			t.Errorf("%s: files were asked for of %s, want %s", c.keys, got, c.asked)
		}
		if got := fmt.Sprint(summaries(ds)); got != c.diagnostics {
			t.Errorf("%s: %s, want %s", c.keys, got, c.diagnostics)
		}
		steps := ""
		if p != nil {
			list := []string{}
			for _, s := range p.Steps {
				list = append(list, s.Address)
			}
			steps = fmt.Sprint(list)
			if read := slices.Contains(syntax.Keys(p.Modules), "m/m.hcl"); read != (len(p.Steps) > 0) || len(p.Origin().Modules) != len(asked) {
				t.Errorf("%s: files of modules %v, and of its origin %d", c.keys, syntax.Keys(p.Modules), len(p.Origin().Modules))
			}
		}
		if steps != c.steps {
			t.Errorf("%s: steps %s, want %s", c.keys, steps, c.steps)
		}
		for _, d := range ds.List {
			if at := syntax.Related(d); d.Subject.Filename == "m/m.hcl" && (len(at) != 1 || at[0].Text != `in module.m["a"]`) {
				t.Errorf("%s: %s is in %v", c.keys, d.Summary, at)
			}
		}
	}
}

// TestBlocksOfModule: which blocks that a pipeline has once, or that are about a run, say something
// in a module.
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
		if got := fmt.Sprint(summaries(ds)); got != c.diagnostics {
			t.Errorf("%s: %s, want %s", c.module, got, c.diagnostics)
		}
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

// TestDefaultOfModulesSensitive: a sensitive variable of a module is a secret by what it is given.
// A null default is none.
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

// TestSlipsOfInstances: an attribute is not missing where it was written with a slip; of a value that
// is in that instance of a module alone, of one that stands in its body in each.
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
		if got := fmt.Sprint(summaries(ds)); got != c.want {
			t.Errorf("%s: %s, want %s: %v", c.keys, got, c.want, ds.Err())
		}
	}
}

// TestModuleWhen: a module whose when is false is left out, with its reason; what reads it takes it by try, and [*] and for_each see
// the instances that there are.
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
		var said []string
		for _, d := range ds.List {
			said = append(said, d.Summary+": "+d.Detail)
		}
		if p != nil {
			for _, s := range p.Steps {
				said = append(said, s.Address)
			}
			for _, s := range p.Skipped {
				said = append(said, "skipped "+s.Address+": "+s.Reason())
			}
		}
		if got := strings.Join(said, " "); !strings.HasPrefix(got, want) || want == "" {
			t.Errorf("%s\n got %s\nwant %s", root, got, want)
		}
	}
}
