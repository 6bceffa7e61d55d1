package pipeline_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestPaperPart: which part of the paper this is may depend on variables, and on nothing else.
func TestPaperPart(t *testing.T) {
	load := func(part string) (*pipeline.Pipeline, pipeline.Diagnostics) {
		return pipeline.Load(map[string][]byte{"p.hcl": []byte(`
variable "files" { default = 6 }
variable "hidden" {
  type      = string
  sensitive = true
}
locals { files = 6 }
paper {
  title = "T"
  part  = ` + part + `
}`)}, pipeline.Options{Registry: kinds(), Vars: map[string]string{"files": "7", "hidden": "s"}})
	}
	if p, ds := load(`"${var.files} of 55 files"`); ds.HasErrors() || p.Paper.Part != "7 of 55 files" {
		t.Errorf("%v", ds)
	}
	for part, want := range map[string]string{"local.files": "A paper block can refer to variables only", "var.hidden": "hidden"} {
		if _, ds := load(part); !ds.HasErrors() || !strings.Contains(ds.Err().Error(), want) {
			t.Errorf("%s: %v", part, ds)
		}
	}
}

// TestPaperFacts: what a pipeline says of its paper, for deposits and citations too, is read as it stands,
// and makes no step.
func TestPaperFacts(t *testing.T) {
	p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(`paper {
  title        = "T"
  authors      = ["A", "B"]
  url          = "https://example.org/t"
  abstract     = "About T."
  license      = "CC-BY-4.0"
  keywords     = ["x", "y"]
  doi          = "10.5281/zenodo.1234"
  version      = "1.1"
  orcid        = { A = "0000-0002-1825-0097", B = "0000-0002-1694-233X" }
  affiliations = { B = "Somewhere" }
}`)}, pipeline.Options{Registry: kinds()})
	errtest.None(t, ds.Err())
	want := pipeline.Paper{Title: "T", Authors: []string{"A", "B"}, URL: "https://example.org/t", Abstract: "About T.", License: "CC-BY-4.0", Keywords: []string{"x", "y"}, DOI: "10.5281/zenodo.1234", Version: "1.1",
		ORCID: map[string]string{"A": "0000-0002-1825-0097", "B": "0000-0002-1694-233X"}, Affiliations: map[string]string{"B": "Somewhere"}}
	if !reflect.DeepEqual(p.Paper, want) || len(p.Steps) != 0 {
		t.Errorf("%+v and %d steps", p.Paper, len(p.Steps))
	}
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
	} {
		_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte("paper {\n  title = \"T\"\n  " + line + "\n}\n")}, pipeline.Options{Registry: kinds()})
		if ds.HasErrors() != (want != "") || want != "" && !strings.Contains(ds.Err().Error(), want) {
			t.Errorf("%s: %v, want %q", line, ds, want)
		}
	}
}

// TestGiven names the variables without which the sources give another pipeline.
func TestGiven(t *testing.T) {
	p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(`
variable "same" { default = "a" }
variable "other" { default = 1 }
variable "needed" {}
variable "hidden" {
  type      = string
  default   = null
  sensitive = true
}
output "all" { value = [var.same, var.other, var.needed] }
`)}, pipeline.Options{Registry: kinds(), Vars: map[string]string{"same": "a", "other": "2", "needed": "x", "hidden": "t"}})
	errtest.None(t, ds.Err())
	if want := []string{"needed", "other"}; !reflect.DeepEqual(p.Given, want) {
		t.Errorf("%v", p.Given)
	}
}
