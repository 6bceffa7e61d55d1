package pipeline_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
)

const localText = `
store = "s"
variables {
  scale = "toy"
  n     = 3
}
temporal { address = "h:7233" }
profile "laptop" {
  store = "of the laptop"
  variables { n = 4 }
  temporal { namespace = "ada" }
}
profile "cluster" { state = "elsewhere" }
`

func TestParseLocal(t *testing.T) {
	for _, c := range []struct{ profile, store, state, namespace, n string }{
		{"", "s", "", "", "3"},
		{"laptop", "of the laptop", "", "ada", "4"},
		{"cluster", "s", "elsewhere", "", "3"},
	} {
		l, ds := pipeline.ParseLocal("redsi.local.hcl", []byte(localText), c.profile)
		if ds.HasErrors() {
			t.Fatal(ds.Err())
		}
		if l.Store != c.store || l.State != c.state || l.Temporal.Address != "h:7233" || l.Temporal.Namespace != c.namespace {
			t.Errorf("%q: %+v", c.profile, l)
		}
		p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte("variable \"scale\" { default = \"full\" }\nvariable \"n\" { default = 1 }")},
			pipeline.Options{Local: l.Variables})
		if ds.HasErrors() {
			t.Fatal(ds.Err())
		}
		if got := p.Inputs(); got["scale"] != "toy" || got["n"] != c.n || strings.Join(p.Local, " ") != "n scale" {
			t.Errorf("%q: %v, %v", c.profile, got, p.Local)
		}
	}
}

func TestParseLocalMistakes(t *testing.T) {
	for source, want := range map[string]string{
		`stroe = "x"`:                               `Did you mean "store"?`,
		`store = 1`:                                 "is a text",
		`store = ""`:                                "not empty",
		`variable { x = 1 }`:                        `Did you mean "variables"?`,
		`variables { x "y" {} }`:                    "lock",
		`temporal { adress = "x" }`:                 `Did you mean "address"?`,
		`profile { }`:                               "label",
		"profile \"p\" {}\nprofile \"p\" {}":        "another profile",
		"profile \"p\" {\n  profile \"q\" {}\n}":    "not expected",
		"profile \"other\" { store = x }":           "ariables",
		"profile \"q\" {}\nprofile \"laptob\" {}\n": `Did you mean "laptob"?`,
		`store = `:                                  "expression",
	} {
		_, ds := pipeline.ParseLocal("redsi.local.hcl", []byte(source), "laptop")
		if !ds.HasErrors() || !strings.Contains(ds.Err().Error(), want) || !strings.Contains(ds.Err().Error(), "redsi.local.hcl:") {
			t.Errorf("%s: %v, want %q", source, ds.Err(), want)
		}
	}
}

// TestLocalSecret: a mistake in a line shows nothing of it.
func TestLocalSecret(t *testing.T) {
	_, ds := pipeline.ParseLocal("redsi.local.hcl", []byte("variables {\n  token = \"planted\n}\n"), "")
	var out strings.Builder
	if err := ds.Write(&out, pipeline.Style{}); err != nil || !strings.Contains(out.String(), "redsi.local.hcl:2") || strings.Contains(out.String(), "planted") {
		t.Error(err, out.String())
	}
}

// TestLocalStrength: the settings are weaker than all that is given, stronger than defaults.
func TestLocalStrength(t *testing.T) {
	sources := map[string][]byte{"p.hcl": []byte(`variable "x" { default = "default" }`)}
	o := pipeline.Options{}
	for _, c := range []struct {
		want string
		add  func()
	}{
		{"default", func() {}},
		{"local", func() { o.Local = []pipeline.File{{Name: "redsi.local.hcl", Bytes: []byte(`x = "local"`)}} }},
		{"env", func() { o.Env = []string{"REDSI_VAR_x=env"} }},
		{"file", func() { o.VarFiles = []pipeline.File{{Name: "f", Bytes: []byte(`x = "file"`)}} }},
		{"flag", func() { o.Vars = map[string]string{"x": "flag"} }},
	} {
		c.add()
		p, ds := pipeline.Load(sources, o)
		if ds.HasErrors() || p.Inputs()["x"] != c.want || (len(p.Local) == 1) != (c.want == "local") {
			t.Errorf("%s: %v %v %v", c.want, ds.Err(), p.Inputs(), p.Local)
		}
	}
	o = pipeline.Options{Local: []pipeline.File{{Name: "redsi.local.hcl", Bytes: []byte("\n  y = 1")}}}
	if _, ds := pipeline.Load(sources, o); !ds.HasErrors() || !strings.Contains(ds.Err().Error(), "redsi.local.hcl:2") {
		t.Error(ds.Err())
	}
}

// TestLocalOthers: the settings name other stores; what is not one is reported with its place.
func TestLocalOthers(t *testing.T) {
	l, ds := pipeline.ParseLocal("redsi.local.hcl", []byte(`from = ["https://example.org/x", "../y"]
require_from = true
profile "far" {
  from      = ["z"]
  untrusted = "use"
}`), "far")
	if ds.HasErrors() || !slices.Equal(l.From, []string{"z"}) || !l.RequireFrom || l.Untrusted != "use" {
		t.Errorf("%+v, %v", l, ds.List)
	}
	for _, bad := range []string{`from = "x"`, `from = [""]`, `from = [null]`, `from = null`, `require_from = "yes"`, `untrusted = "often"`, `untrusted = 7`} {
		if _, ds := pipeline.ParseLocal("redsi.local.hcl", []byte(bad), ""); !ds.HasErrors() || ds.List[0].Subject.Start.Line != 1 {
			t.Errorf("%s: %v", bad, ds.List)
		}
	}
}
