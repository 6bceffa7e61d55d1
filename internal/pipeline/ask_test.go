package pipeline_test

import (
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/errtest"
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
	errtest.Says(t, ds.Err(), "answers are kept in a file")
}
