package local_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/local"
	"github.com/redsi/redsi/internal/system/errtest"
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

func TestParse(t *testing.T) {
	for _, c := range []struct{ profile, store, state, namespace, n string }{
		{"", "s", "", "", "3"},
		{"laptop", "of the laptop", "", "ada", "4"},
		{"cluster", "s", "elsewhere", "", "3"},
	} {
		l, ds := local.Parse("redsi.local.hcl", []byte(localText), c.profile)
		errtest.None(t, ds.Err())
		if l.Store != c.store || l.State != c.state || l.Temporal.Address != "h:7233" || l.Temporal.Namespace != c.namespace {
			t.Errorf("%q: %+v", c.profile, l)
		}
		p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte("variable \"scale\" { default = \"full\" }\nvariable \"n\" { default = 1 }")},
			pipeline.Options{Local: l.Variables})
		errtest.None(t, ds.Err())
		if got := p.Inputs(); got["scale"] != "toy" || got["n"] != c.n || strings.Join(p.Local, " ") != "n scale" {
			t.Errorf("%q: %v, %v", c.profile, got, p.Local)
		}
	}
}

func TestMistakes(t *testing.T) {
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
		_, ds := local.Parse("redsi.local.hcl", []byte(source), "laptop")
		if !ds.HasErrors() || !strings.Contains(ds.Err().Error(), want) || !strings.Contains(ds.Err().Error(), "redsi.local.hcl:") {
			t.Errorf("%s: %v, want %q", source, ds.Err(), want)
		}
	}
}

// TestSecret: a mistake in a line shows nothing of it.
func TestSecret(t *testing.T) {
	_, ds := local.Parse("redsi.local.hcl", []byte("variables {\n  token = \"planted\n}\n"), "")
	var out strings.Builder
	if err := ds.Write(&out, pipeline.Style{}); err != nil || !strings.Contains(out.String(), "redsi.local.hcl:2") || strings.Contains(out.String(), "planted") {
		t.Error(err, out.String())
	}
}

// TestOthers: the settings name other stores; what is not one is reported with its place.
func TestOthers(t *testing.T) {
	l, ds := local.Parse("redsi.local.hcl", []byte(`from = ["https://example.org/x", "../y"]
require_from = true
profile "far" {
  from      = ["z"]
  untrusted = "use"
}`), "far")
	if ds.HasErrors() || !slices.Equal(l.From, []string{"z"}) || !l.RequireFrom || l.Untrusted != "use" {
		t.Errorf("%+v, %v", l, ds.List)
	}
	for _, bad := range []string{`from = "x"`, `from = [""]`, `from = [null]`, `from = null`, `require_from = "yes"`, `untrusted = "often"`, `untrusted = 7`} {
		if _, ds := local.Parse("redsi.local.hcl", []byte(bad), ""); !ds.HasErrors() || ds.List[0].Subject.Start.Line != 1 {
			t.Errorf("%s: %v", bad, ds.List)
		}
	}
}
