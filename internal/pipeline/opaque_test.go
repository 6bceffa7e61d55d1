package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

const opaqueSource = `
step "download" "a" { url = "https://lab.example.org/a" }
step "download" "b" {
  for_each = toset(["x", "y"])
  url      = each.key
}
variable "none" {
  type    = any
  default = null
}
`

func opaqueScope(t *testing.T) *pipeline.Scope {
	t.Helper()
	s, p, ds := pipeline.Open(map[string][]byte{"p.hcl": []byte(opaqueSource)}, pipeline.Options{Registry: kinds(),
		World: pipeline.World{ReadFile: func(string) ([]byte, error) { return []byte("1"), nil },
			List: func(string, string) ([]string, error) { return []string{"1"}, nil }, Digest: func(string) (step.Pin, error) { return step.Pin{}, nil }}})
	if p == nil {
		t.Fatal(ds.Err())
	}
	return s
}

// evaluated is the text of a value, or the summary of what is wrong.
func evaluated(s *pipeline.Scope, expression string) (text string, failed bool) {
	v, ds := s.Value(pipeline.WholeExpression("e", []byte(expression)))
	if ds.HasErrors() {
		return ds.List[0].Summary, true
	}
	return language.Text(v, nil), false
}

const opaqueTitle = "Artifact used as a value"

// A function hands an artifact on or says what it is, also within try and can. A new function that hands on joins the list.
func TestArtifactInFunctions(t *testing.T) {
	s := opaqueScope(t)
	handsOn := map[string]bool{
		"product": true, "chunklist": true, "coalesce": true, "coalescelist": true, "concat": true, "element": true,
		"flatten": true, "keys": true, "length": true, "lookup": true, "merge": true, "one": true, "reverse": true, "setproduct": true,
		"slice": true, "values": true, "zipmap": true, "tolist": true, "tomap": true, "try": true, "can": true,
	}
	const it, one = "step.download.a.file", `"1"`
	with := []string{it, "[" + it + "]", "{ a = " + it + " }", "{ a = { k = " + it + " } }", one, "1", "[" + one + "]", "[true]", "null"}
	var calls [][]string
	for _, a := range with {
		calls = append(calls, []string{a})
		for _, b := range with {
			calls = append(calls, []string{a, b})
			for _, c := range []string{it, one} {
				calls = append(calls, []string{a, b, c})
			}
		}
	}
	calls = append(calls, []string{it, "[]"}, []string{it, `"json"`}, []string{"{ a = [" + it + "] }"}, []string{"[" + one + "]", "[" + it + "]", "[" + one + "]"})
	for _, f := range language.Functions() {
		if f.Name == "files" || f.Name == "json" { // they look into artifacts: see TestMade
			continue
		}
		refused, handed := 0, 0
		for _, args := range calls {
			call := fmt.Sprintf("%s(%s)", f.Name, strings.Join(args, ", "))
			tooMany := len(args) > 1+strings.Count(f.Usage, ",") && !strings.Contains(f.Usage, "...")
			if !strings.Contains(call, it) || tooMany || len(args) > 2 && strings.Contains(f.Usage, "(lists...") {
				continue
			}
			got, failed := evaluated(s, call)
			_, textFails := evaluated(s, strings.ReplaceAll(call, it, one))
			switch {
			case !failed && handsOn[f.Name]:
				handed++
			case !failed:
				t.Errorf("%s is %s", call, got)
			case !textFails && !handsOn[f.Name]:
				refused++
				testkit.Is(t, got, opaqueTitle, call)
				if got, failed := evaluated(s, "try("+call+", 7)"); !failed || got != opaqueTitle {
					t.Errorf("within try, %s is %s", call, got)
				}
			}
		}
		if handsOn[f.Name] && handed == 0 {
			t.Errorf("%s() never hands an artifact on", f.Name)
		}
		if takesText := f.Group != "Numbers" && f.Name != "range" && f.Name != "base64decode" && f.Name != "tomldecode"; !handsOn[f.Name] && refused == 0 && takesText {
			t.Errorf("%s() was never given an artifact where a text would do", f.Name)
		}
	}
}

// The same of operators and of all other places where the language wants a value.
func TestArtifactInExpressions(t *testing.T) {
	s := opaqueScope(t)
	expressions := []string{
		`-@`, `!@`, `@ ? 1 : 2`, `"a${@}"`, `"%{ if @ }a%{ endif }"`, `"%{ for x in @ }a%{ endfor }"`, `{ (@) = 1 }`, `{ a = 1 }[@]`, `[1][@]`,
		`[for x in @ : x]`, `[for x in [1] : x if @]`, `{ for x in [1] : @ => x }`, `{ for x in [1] : @ => x... }`,
		`@.x`, `@["x"]`, `@[0]`, `@[*].x`, `@.*.x`, `(@).x`, `(@)["x"]`, `step.download.b[*].file.x`,
		`length(@)`, `keys(@)`, `coalesce(@, "a")`, `merge(@, {})`, `lookup({ a = 1 }, @, 2)`, `element([1], @)`,
		`concat(@, [])`, `flatten(@)`, `values(@)`, `tolist(@)`, `tomap(@)`, `slice(@, 0, 1)`, `join(",", [@])`, `sort([@, @])`,
		`try(@.x, try(@ == "a", 1))`,
	}
	for _, op := range []string{"==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&&", "||"} {
		for _, form := range []string{"@ %s 1", `"true" %s @`, `@ %s @`} {
			if !strings.Contains("==!=&&||", op) {
				form = strings.Replace(form, "true", "1", 1)
			}
			expressions = append(expressions, fmt.Sprintf(form, op))
		}
	}
	for _, op := range []string{"==", "!="} {
		for _, form := range []string{`[@] %s ["a"]`, `{ a = "a" } %s { a = @ }`, `[] %s step.download.b[*].file`, `@ %s step.download.b["x"].file`, `step.download.a %s "a"`, `(@ %s "a") && false`} {
			expressions = append(expressions, fmt.Sprintf(form, op))
		}
	}
	for _, e := range expressions {
		e = strings.ReplaceAll(e, "@", "step.download.a.file")
		for _, form := range []string{"%s", "try(%s, 7)", "can(%s)", "[for i in [1] : try(%s, 7)]", "try(local.none, try(%s, 7))"} {
			form = strings.ReplaceAll(form, "local.none", `tonumber("x")`)
			_, ds := s.Value(pipeline.WholeExpression("e", fmt.Appendf(nil, form, e)))
			if !ds.HasErrors() {
				if strings.Contains(e, "&& false") {
					continue // what decides is known
				}
				t.Errorf("%s is evaluated", fmt.Sprintf(form, e))
				continue
			}
			d := ds.List[0]
			at := d.Subject.Start.Byte
			if d.Summary != opaqueTitle || !strings.Contains(d.Detail, "json(ARTIFACT") || at < strings.Index(form, "%") {
				t.Errorf("%s at %d: %s: %.200s", fmt.Sprintf(form, e), at, d.Summary, d.Detail)
			}
		}
	}
}

// What chooses among artifacts works.
func TestArtifactChosen(t *testing.T) {
	s := opaqueScope(t)
	const a, x, y = "step.download.a.file", `step.download.b["x"].file`, `step.download.b["y"].file`
	for expression, want := range map[string]string{
		`coalesce(var.none, ` + a + `)`:                            a,
		`lookup({ a = ` + a + ` }, "a", ` + x + `)`:                a,
		`true ? ` + a + ` : ` + x:                                  a,
		`var.none == null ? ` + a + ` : var.none`:                  a,
		a + ` != null ? ` + a + ` : ` + x:                          a,
		`[` + a + `] == null`:                                      "false",
		`merge({ a = ` + x + ` }, { a = ` + a + ` }).a`:            a,
		`try(step.download.a.nothing, ` + a + `)`:                  a,
		`can(step.download.a.nothing)`:                             "false",
		`can(` + a + `)`:                                           "true",
		`try(step.download.b["z"].file, null)`:                     "null",
		`try(lookup(step.download.b, "z").file, ` + a + `)`:        a,
		`step.download.b[*].file`:                                  "[" + x + ", " + y + "]",
		`length(step.download.b[*].file) == 2`:                     "true",
		`contains(keys(step.download.b), "x")`:                     "true",
		`[for k, v in step.download.b : v.file if k != "x"]`:       "[" + y + "]",
		`zipmap(["k"], [` + a + `])`:                               "{ k = " + a + " }",
		`{ for k, v in step.download.b : v.file != null => k... }`: "{ true = [\"x\", \"y\"] }",
	} {
		if got, _ := evaluated(s, expression); got != want && got != strings.Replace(want, "{ true", "{ \"true\"", 1) {
			t.Errorf("%s is %s, not %s", expression, got, want)
		}
	}
}

const planted = "planted-and-secret"

func sensitiveStep(attrs string) string {
	return "variable \"s\" { sensitive = true }\nlocals { made = \"Bearer ${var.s}\" }\nstep \"command\" \"a\" {\n" + attrs + "\n}\n"
}

// A sensitive variable goes whole to an attribute for secrets, whose name the configuration has, and nowhere else.
func TestSensitive(t *testing.T) {
	load := func(src string) (*pipeline.Pipeline, string) {
		p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds(), Vars: map[string]string{"s": planted}})
		report := fmt.Sprint(ds.Err())
		b, err := ds.MarshalJSON()
		testkit.None(t, err)
		if strings.Contains(report+string(b), planted) {
			t.Errorf("%s\ntells the value: %s", src, report)
		}
		return p, report
	}
	for _, ok := range []string{
		`argv = [nonsensitive(var.s != "") ? "given" : "none"]
		secret_env = { TOKEN = var.s, OTHER = "env:OTHER" }`,
		`argv = ["given"]
		secret_env = merge({ TOKEN = var.s }, { OTHER = "env:OTHER" })`,
		`argv = [can(regex("^planted", var.s)) ? "given" : "none"]
		secret_env = { for k, v in { TOKEN = var.s, OTHER = "env:OTHER" } : k => v }`,
	} {
		p, report := load(strings.Replace(sensitiveStep(ok), "locals { made = \"Bearer ${var.s}\" }", "", 1))
		if p == nil {
			t.Errorf("%s\n%s", ok, report)
			continue
		}
		if got, want := string(p.Steps[0].Task.Config), `{"argv":["given"],"script":"","secret_env":{"OTHER":"env:OTHER","TOKEN":"var:s"}}`; got != want {
			t.Errorf("%s", got)
		}
		if p.Secrets["s"] != planted || len(p.Vars) > 0 || len(p.Inputs) > 0 || len(p.Given) > 0 {
			t.Errorf("%v %s %v", p.Secrets, p.Vars, p.Inputs)
		}
		_, pre, err := kinds().Key(p.Steps[0].Task)
		testkit.None(t, err)
		testkit.Says(t, string(pre), `"secret_env":["OTHER","TOKEN"]`)
	}
	for attrs, want := range map[string]string{
		`argv = [var.s]`:                                  "Sensitive value",
		`argv = ["x", local.made]`:                        "Sensitive value",
		`argv = [upper(var.s)]`:                           "Sensitive value",
		`argv = [jsonencode({ a = [var.s] })]`:            "Sensitive value",
		`argv = [for c in split("-", var.s) : c]`:         "Sensitive value",
		`argv = [var.s == "" ? "a" : "b"]`:                "Sensitive value",
		`argv = [tostring(length(var.s))]`:                "Sensitive value",
		`argv = keys({ (var.s) = 1 })`:                    "Sensitive value",
		"for_each = toset([var.s])\nargv = []":            "Sensitive value",
		"for_each = { a = var.s }\nargv = [each.value]":   "Sensitive value",
		"argv = []\nsecret_env = { A = local.made }":      "A secret must be a variable's unchanged value",
		"argv = []\nsecret_env = { (var.s) = \"env:A\" }": "Sensitive value",
		"argv = []\nresources {\n queue = var.s\n}":       "Sensitive value",
		`argv = [file(var.s)]`:                            "not shown",
		`argv = [jsondecode(var.s)]`:                      "not shown",
		`argv = [{ a = 1 }[var.s]]`:                       "p.hcl:4:",
		`argv = [local.made.x]`:                           "p.hcl:4:",
		`argv = [nonsensitive(var.s)]`:                    "bool",
	} {
		if p, report := load(sensitiveStep(attrs)); p != nil || !strings.Contains(report, want) || !strings.Contains(report, "p.hcl:") {
			t.Errorf("%s\n%s\nwant %s", attrs, report, want)
		}
	}
	for src, want := range map[string]string{
		"variable \"s\" {\n sensitive = true\n default = \"x\"\n}\n":                                                                "Default of a sensitive variable",
		"variable \"s\" {\n sensitive = true\n type = list(string)\n}\n":                                                            "Type of a sensitive variable",
		"variable \"s\" {\n sensitive = \"maybe\"\n}\n":                                                                             "sensitive is true or false",
		"variable \"s\" {\n sensitive = true\n type = number\n}\n":                                                                  "does not fit",
		"variable \"s\" {\n sensitive = true\n validation {\n condition = var.s == \"\"\n error_message = \"no\"\n }\n}\n":          "not shown, as it is sensitive",
		"variable \"s\" {\n sensitive = true\n validation {\n condition = var.s == \"\"\n error_message = \"no ${var.s}\"\n }\n}\n": "Sensitive value",
		"variable \"s\" {\n sensitive = true\n}\npaper {\n title = \"T\"\n part = var.s\n}\n":                                       "Sensitive value",
		"variable \"t\" {\n sensitive = true\n default = null\n}\n":                                                                 "no variable \"s\"",
	} {
		if p, report := load(src); p != nil || !strings.Contains(report, want) {
			t.Errorf("%s\n%s\nwant %s", src, report, want)
		}
	}
	for name, o := range map[string]pipeline.Options{
		"environment": {Env: []string{"REDSI_VAR_s=" + planted, "REDSI_VAR_ss=" + planted}},
		"file":        {VarFiles: []pipeline.File{{Name: "v.hcl", Bytes: []byte("s = \"" + planted + "\"\nt = \"" + planted + "\"\n")}}},
		"cut file":    {VarFiles: []pipeline.File{{Name: "v.hcl", Bytes: []byte("s = \"" + planted + "\n")}}},
		"none":        {},
	} {
		o.Registry = kinds()
		_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(sensitiveStep("argv = [var.s]"))}, o)
		var b strings.Builder
		if err := ds.Write(&b, pipeline.Style{}); err != nil || !ds.HasErrors() || strings.Contains(b.String(), planted) {
			t.Errorf("%s: %s", name, b.String())
		}
	}
}

// A module gets a sensitive variable of the pipeline whole, whatever it calls it, and does not show it either.
func TestSensitiveModules(t *testing.T) {
	const module = `
variable "token" {
  ATTRS
  validation {
    condition     = nonsensitive(length(var.token) > 3)
    error_message = "too short"
  }
}
step "command" "a" {
  argv       = USE
  secret_env = { TOKEN = var.token }
}
output "token" { value = var.token }
`
	for _, c := range []struct{ attrs, value, argv, after, want string }{
		{"sensitive = true", "var.s", `["x"]`, "", ""},
		{"", "var.s", `["x"]`, "", ""},
		{"sensitive = true", "var.s", `["x"]`, "step \"command\" \"b\" {\n argv = [\"x\"]\n secret_env = { TOKEN = module.m.token }\n}", ""},
		{"sensitive = true", "var.s", `[var.token]`, "", "Sensitive value"},
		{"", "var.s", `[var.token]`, "", "Sensitive value"},
		{"", "var.s", `["x"]`, "step \"command\" \"b\" { argv = [module.m.token] }", "Sensitive value"},
		{"sensitive = true", `"in clear"`, `["x"]`, "", "Not a sensitive variable"},
		{"sensitive = true", `"Bearer ${var.s}"`, `["x"]`, "", "Not a sensitive variable"},
		{"", `regexreplace(var.s, "^.*$", "ab")`, `["x"]`, "", "too short"},
	} {
		main := "variable \"s\" { sensitive = true }\nmodule \"m\" {\n  source = \"./m\"\n  token = " + c.value + "\n}\n" + c.after
		files := map[string]string{"./m": strings.NewReplacer("ATTRS", c.attrs, "USE", c.argv).Replace(module)}
		p, ds, _ := withModule(main, files, pipeline.Options{Registry: kinds(), Vars: map[string]string{"s": planted}})
		report := fmt.Sprint(ds.Err())
		switch {
		case strings.Contains(report, "is ab") || strings.Contains(report, planted):
			t.Errorf("%+v tells the value: %s", c, report)
		case c.want != "" && (p != nil || !strings.Contains(report, c.want)):
			t.Errorf("%+v: %s", c, report)
		case c.want == "" && p == nil:
			t.Errorf("%+v: %s", c, report)
		case c.want == "":
			for _, s := range p.Steps {
				if got, want := string(s.Task.Config), `{"argv":["x"],"script":"","secret_env":{"TOKEN":"var:s"}}`; got != want {
					t.Errorf("%+v: %s has %s", c, s.Address, got)
				}
			}
			testkit.Is(t, p.Secrets["s"], planted, c, p.Secrets)
			testkit.Is(t, len(p.Secrets), 1, c, p.Secrets)
		}
	}
}

func TestVariableFiles(t *testing.T) {
	src := map[string][]byte{"p.hcl": []byte(`
variable "lr" { default = 1 }
variable "seeds" {
  type    = list(number)
  default = []
}
variable "train" {
  type    = object({ layers = number })
  default = { layers = 1 }
}
output "all" { value = "${var.lr} ${jsonencode(var.seeds)} ${var.train.layers}" }
`)}
	for _, c := range []struct{ name, text, want string }{
		{"v.yaml", "lr: 1e-4\nseeds: [1, 2]\ntrain:\n  layers: 3\n", `0.0001 [1,2] {"layers":3}`},
		{"v.YML", "lr: ~\n", `1 [] {"layers":1}`},
		{"v.yaml", "", `1 [] {"layers":1}`},
		{"v.toml", "lr = 0.1\n[train]\nlayers = 3\n", `0.1 [] {"layers":3}`},
		{"v.yaml", "# x\nlrr: 2\n", "!v.yaml:2:1 Did you mean \"lr\"?"},
		{"v.toml", "lr = 1\n[trian]\nlayers = 3\n", "!v.toml:2:1"},
		{"v.yaml", "lr: 1\ntrain:\n  layers: x\n", "!v.yaml:2:1 does not fit the type of var.train"},
		{"v.yaml", "lr: 1\nseeds: [\n", "!v.yaml:"},
		{"v.yaml", "lr: 1\nlr: 2\n", "!v.yaml:2:1 mapping key \"lr\" already defined at line 1"},
		{"v.yaml", "- lr\n", "!v.yaml:1:1 no variables at its top"},
		{"v.toml", "lr = 1\nlr = 2\n", "!v.toml:2:1"},
		{"v.yaml", "seeds: [1, 007]", "!v.yaml:1:1 write it in quotes"},
		{"v.yaml", "lr: \xff", "!v.yaml:1:1 not UTF-8"},
	} {
		p, ds := pipeline.Load(src, pipeline.Options{Registry: kinds(), VarFiles: []pipeline.File{{Name: c.name, Bytes: []byte(c.text)}}})
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			place, rest, _ := strings.Cut(want, " ")
			if !ds.HasErrors() || !strings.Contains(ds.Err().Error(), place) || !strings.Contains(ds.Err().Error(), rest) {
				t.Errorf("%s %q: %v, want %s", c.name, c.text, ds.Err(), want)
			}
			continue
		}
		if ds.HasErrors() {
			t.Errorf("%s %q: %v", c.name, c.text, ds.Err())
			continue
		}
		testkit.Is(t, fmt.Sprintf("%s %s %s", p.Vars["lr"], p.Vars["seeds"], p.Vars["train"]), c.want, c.name, c.text)
	}
}
