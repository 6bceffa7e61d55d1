package pipeline_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestPaperFacts: what a pipeline says of its paper is read as it stands, and makes no step.
func TestPaperFacts(t *testing.T) {
	p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(`variable "files" { default = 6 }
paper {
  title        = "T"
  part         = "${var.files} of 55 files"
  authors      = ["A", "B"]
  url          = "https://example.org/t"
  abstract     = "About T."
  license      = "CC-BY-4.0"
  keywords     = ["x", "y"]
  doi          = "10.5281/zenodo.1234"
  version      = "1.1"
  orcid        = { A = "0000-0002-1825-0097", B = "0000-0002-1694-233X" }
  affiliations = { B = "Somewhere" }
}`)}, pipeline.Options{Registry: kinds(), Vars: map[string]string{"files": "7"}})
	testkit.None(t, ds.Err())
	want := pipeline.Paper{Title: "T", Part: "7 of 55 files", Authors: []string{"A", "B"}, URL: "https://example.org/t", Abstract: "About T.", License: "CC-BY-4.0", Keywords: []string{"x", "y"}, DOI: "10.5281/zenodo.1234", Version: "1.1",
		ORCID: map[string]string{"A": "0000-0002-1825-0097", "B": "0000-0002-1694-233X"}, Affiliations: map[string]string{"B": "Somewhere"}}
	testkit.That(t, reflect.DeepEqual(p.Paper, want) && len(p.Steps) == 0, p.Paper, "and", len(p.Steps), "steps")
}

// TestPaperMistakes: what would be wrong in a deposit or a citation is said at load.
func TestPaperMistakes(t *testing.T) {
	for line, want := range map[string]string{
		`license = "mit"`:                  "",
		`license = "CDLA-Permissive-2.0"`:  "",
		`license = "https://example.org"`:  "",
		`license = "CC-BY-4"`:              `"CC-BY-4" is neither: did you mean "CC-BY-4.0"?`,
		`license = "https://e.org/?a=b c"`: "is neither",
		`url = "https://example.org/<x>"`:  "is no address",
		`license = "ours"`:                 "or the https:// address of its text",
		`url = "doi.org/10.1/x"`:           "is no address, which begins with https://",
		`url = "https://example.org/x"`:    "",
		`doi = "https://doi.org/10.1/x"`:   "A DOI is written",
		`doi = "10.1000.10/x"`:             "",
		`authors = ["A, B", "A, C"]`:       "",
		`authors = ["A", "B", "A"]`:        `authors[2]: "A" is an author already`,
		`authors = ["A", ""]`:              `authors[1]: An author is written "Family, Given" or by one name`,
		`authors = ["Ann, "]`:              `authors[0]: An author is written`,
		`keywords = ["x", " "]`:            "keywords[1]: A keyword has a text",
		`part = local.x`:                   "A paper block can refer to variables only",
	} {
		_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte("paper {\n  title = \"T\"\n  " + line + "\n}\n")}, pipeline.Options{Registry: kinds()})
		if ds.HasErrors() != (want != "") || want != "" && !strings.Contains(ds.Err().Error(), want) {
			t.Errorf("%s: %v, want %q", line, ds, want)
		}
	}
}

const aliceKey, bobKey = "alice:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "bob:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="

// TestResults: what a pipeline says of others' results is read, with variables, and changes no step.
func TestResults(t *testing.T) {
	const rest = `
variable "host" { default = "https://example.org" }
step "download" "nq" { url = "https://example.org/a" }
`
	p, ds := pipeline.Load(map[string][]byte{"sub/p.hcl": []byte(`results {
  from      = ["${var.host}/paper", "s3://bucket/main?anonymous=true", "../colleague", "/abs"]
  trust     = ["` + aliceKey + `"]
  revoked   = ["` + bobKey + `"]
  untrusted = "verify"
  shared    = "run"
}` + rest)}, pipeline.Options{Registry: kinds()})
	testkit.None(t, ds.Err())
	alice, err := signature.ParsePublic(aliceKey)
	testkit.None(t, err)
	bob, err := signature.ParsePublic(bobKey)
	testkit.None(t, err)
	want := pipeline.Results{From: []string{"https://example.org/paper", "s3://bucket/main?anonymous=true", "colleague", "/abs"},
		Trust: []signature.Public{alice}, Revoked: []signature.Public{bob}, Untrusted: "verify", Shared: "run"}
	testkit.Deep(t, p.Results, want)
	without, _ := pipeline.Load(map[string][]byte{"sub/p.hcl": []byte(strings.Repeat("\n", 6) + rest)}, pipeline.Options{Registry: kinds()})
	testkit.Deep(t, p.Steps, without.Steps)
}

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
	testkit.None(t, ds.Err())
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

// TestPublish: a publish block names outputs and a folder beside the pipeline, and makes no step.
func TestPublish(t *testing.T) {
	const head = `variable "folder" { default = "results/plots" }
step "command" "plot" { argv = ["plot"] }
`
	for body, want := range map[string]string{
		"files = step.command.plot.out\n to = var.folder":                                                              "[{a results/plots [step.command.plot.out] dir/p.hcl:3}]",
		"files = [step.command.plot.out, step.command.plot.stdout]\n to = \"x/\"":                                      "[{a x/ [step.command.plot.out step.command.plot.stdout] dir/p.hcl:3}]",
		"files = step.command.plot.out":                                                                                "Missing attribute",
		"files = step.command.plot\n to = \"x\"":                                                                       "Step instead of an output",
		"files = \"out\"\n to = \"x\"":                                                                                 "files: want artifacts",
		"files = step.command.nope.out\n to = \"x\"":                                                                   `There is no step.command.nope. Did you mean "step.command.plot"?`,
		"files = step.command.plot.out\n to = \"../x\"":                                                                "it is a folder below",
		"files = step.command.plot.out\n to = \"/x\"":                                                                  "it is a folder below",
		"files = step.command.plot.out\n to = \".\"":                                                                   "it is a folder below",
		"files = step.command.plot.out\n to = \"x/.git/hooks\"":                                                        "no part of it begins with a dot",
		"files = step.command.plot.out\n to = 1":                                                                       "[{a 1 [step.command.plot.out] dir/p.hcl:3}]",
		"files = step.command.plot.out\n to = \"x\"\n mode = 1":                                                        `The publish block has no attribute "mode"`,
		"files = step.command.plot.out\n to = \"x\"\n}\npublish \"a\" {\n files = 1\n to = 2":                          "Declared twice",
		"files = step.command.plot.out\n to = \"x\"\n}\npublish \"b\" {\n files = step.command.plot.out\n to = \"x/\"": `The block publish "a" writes step.command.plot.out into x/, too.`,
	} {
		p, ds := pipeline.Load(map[string][]byte{"dir/p.hcl": []byte(head + "publish \"a\" {\n" + body + "\n}\n")}, pipeline.Options{Registry: kinds()})
		got := fmt.Sprint(ds)
		if p != nil {
			got = fmt.Sprint(p.Publish)
		}
		if !strings.Contains(got, want) || p != nil && len(p.Steps) != 1 {
			t.Errorf("%s: %s", body, got)
		}
	}
	type source struct {
		Path string `hcl:"path" help:"x"`
	}
	folders := step.NewRegistry(*kinds().Lookup("command"), step.Define(step.Kind[source]{Name: "source", Version: 1, Doc: "Reads.", Block: true, Run: noRun[source],
		Outputs: []step.Output{{Name: "files", Type: "files", Tree: true}}}))
	if path, _, ok := pipeline.SourceOf(step.Task{Kind: declare.SourceKind, Config: []byte(`{"ignore": true}`)}, pipeline.Pos{File: "p.hcl"}); ok {
		t.Errorf("a source whose path a step decides reads %q", path)
	}
	for source, to := range map[string][2]string{"data": {"data/derived", "data2"}, ".": {"results", ""}, "**": {"results", ""}, "data/*": {"data", "data/derived"}, "d/**/*": {"d/x", "e"}, "d/**/*.csv": {"", "d"}, "*.csv": {"", "x"}, "x.csv": {"", "x"}} {
		for i, to := range to {
			_, ds := pipeline.Load(map[string][]byte{"dir/p.hcl": []byte(fmt.Sprintf("source \"s\" { path = %q }\n%spublish \"a\" {\n  files = step.command.plot.out\n  to = %q\n}\n", source, head, to))}, pipeline.Options{Registry: folders})
			text, err := ds.MarshalJSON()
			if warned := err == nil && strings.Contains(string(text), "source.s reads dir"); to != "" && warned != (i == 0) {
				t.Errorf("%s into %s: %v", to, source, ds)
			}
		}
	}
}
