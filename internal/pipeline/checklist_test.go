package pipeline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestChecklist: what a pipeline says for checklists is read with its places, and makes no step.
func TestChecklist(t *testing.T) {
	p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(`checklist {
  selection = "by the development set"
  search = {
    warmup = "0, 10K"
    "learning rate" = "1e-3"
  }
  neurips = { "2" = "Section 5." }
  dataset "NQ (full)" {
    license   = "CC BY-SA 3.0"
    languages = ["English"]
    about     = "questions to a search engine"
    url       = "https://example.org"
  }
  model "T5" {}
}`)}, pipeline.Options{Registry: kinds()})
	errtest.None(t, ds.Err())
	at := func(line int) pipeline.Pos { return pipeline.Pos{File: "p.hcl", Line: line} }
	want := pipeline.Checklist{
		Selection: pipeline.Said{Text: "by the development set", Pos: at(2)},
		Search:    []pipeline.Bound{{Name: "learning rate", Said: pipeline.Said{Text: "1e-3", Pos: at(5)}}, {Name: "warmup", Said: pipeline.Said{Text: "0, 10K", Pos: at(4)}}},
		Answers:   map[string]map[string]pipeline.Said{"neurips": {"2": {Text: "Section 5.", Pos: at(7)}}},
		Assets: []pipeline.Asset{
			{Type: "dataset", Name: "NQ (full)", License: "CC BY-SA 3.0", URL: "https://example.org", Languages: []string{"English"}, About: "questions to a search engine", Pos: at(8)},
			{Type: "model", Name: "T5", Pos: at(14)},
		},
	}
	if d := cmp.Diff(want, p.Checklist); d != "" || len(p.Steps) != 0 {
		t.Errorf("%s\n%d steps", d, len(p.Steps))
	}
}
