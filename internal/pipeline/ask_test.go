package pipeline_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
)

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
	if err := ds.Err(); err == nil || !strings.Contains(err.Error(), "answers are kept in a file") {
		t.Errorf("%v", err)
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
