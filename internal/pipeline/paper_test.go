package pipeline_test

import (
	"reflect"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
)

// TestPaper: what a pipeline says of its paper is read, and makes no step.
func TestPaper(t *testing.T) {
	p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(`paper {
  title   = "T"
  authors = ["A", "B"]
  url     = "https://example.org/t"
}`)}, pipeline.Options{Registry: kinds()})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	if want := (pipeline.Paper{Title: "T", Authors: []string{"A", "B"}, URL: "https://example.org/t"}); !reflect.DeepEqual(p.Paper, want) || len(p.Steps) != 0 {
		t.Errorf("%+v and %d steps", p.Paper, len(p.Steps))
	}
}
