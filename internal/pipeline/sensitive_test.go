package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/errtest"
)

const planted = "planted-and-secret"

func sensitiveStep(attrs string) string {
	return "variable \"s\" { sensitive = true }\nlocals { made = \"Bearer ${var.s}\" }\nstep \"command\" \"a\" {\n" + attrs + "\n}\n"
}

// A sensitive variable goes whole to an attribute for secrets, of which the
// configuration has the name, and nowhere else.
func TestSensitive(t *testing.T) {
	load := func(src string) (*pipeline.Pipeline, string) {
		p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds(), Vars: map[string]string{"s": planted}})
		report := fmt.Sprint(ds.Err())
		b, err := ds.MarshalJSON()
		errtest.None(t, err)
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
		if p.Secrets["s"] != planted || len(p.Vars) > 0 || len(p.Inputs()) > 0 {
			t.Errorf("%v %s %v", p.Secrets, p.Vars, p.Inputs())
		}
		_, pre, err := kinds().Key(p.Steps[0].Task)
		if err != nil || !strings.Contains(string(pre), `"secret_env":["OTHER","TOKEN"]`) {
			t.Errorf("%s, %v", pre, err)
		}
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
		"argv = []\nsecret_env = { A = local.made }":      "A secret must be a whole variable",
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

// A module gets a sensitive variable of the pipeline whole, whatever it calls it, and
// does not show it either.
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
			if p.Secrets["s"] != planted || len(p.Secrets) != 1 {
				t.Errorf("%+v: secrets %v", c, p.Secrets)
			}
		}
	}
}
