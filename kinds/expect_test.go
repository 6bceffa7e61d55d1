package kinds_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// TestExpectMistakes: an expectation of no form, or about a cell that there is not, is a
// mistake of the pipeline, at its place.
func TestExpectMistakes(t *testing.T) {
	const table = `
  stubs   = [""]
  columns = [{ id = "a", title = "A", format = "fixed" }, { id = "b", title = "B", format = "fixed" }]
  rows    = [{ id = "r", titles = ["r"] }]
`
	for expect, want := range map[string]string{
		`expect "r.a" {}`: "is exactly one of value, text,",
		"expect \"r.a\" {\nvalue = 1\ntext = \"x\"\n}":                        "text takes no value",
		`expect = [{ cell = "r.a", value = 1 }, { cell = "r.z", value = 1 }]`: "expect[1]",
		`expect = [{ cell = "r.z", value = 1 }]`:                              `no column "z"`,
		`expect = [{ cell = "r.z", value = 1, scale = "toy" }]`:               `no column "z"`,
		`expect = [{ cell = "r.a", above = ["r.b"] }]`:                        `no attribute "above"`,
		`expect = [{ cell = "r.a", value = 1, std = 1, std_factor = 0.5 }]`:   "std_factor is at least 1",
		`expect = [{ cell = "r.a", value = 1, shown = true, tolerance = 1 }]`: "numbers that are compared",
		`expect = [{ cell = "r.a", value = 1, severity = "fatal" }]`:          `"fatal" is not one of`,
		`expect = [{ cell = "r.a", value = 1, at = { full = 2 } }]`:           "value is the paper's, and so is at.full",
		`expect = [{ cell = "r.a", at = { toy = 2 }, scale = "toy" }]`:        "scale is for an expectation that is about one",
		`expect = [{ cell = "r.a", text = "x", near = 2 }]`:                   "near is for numbers",
		`expect = [{ cell = "r.a", value = 1, tolerance = 3, near = 2 }]`:     "near is wider than tolerance",
	} {
		refused(t, "table \"t\" {\n"+table+expect+"\n}\n", want)
	}
	for claim, want := range map[string]string{
		``:                       "what holds where the sentence is true",
		`expect {}`:              "is exactly one of value, text,",
		"expect {\nvalue = 1\n}": "needs the cell that value is about",
		"expect {\ncell = table.t[\"r.a\"]\norder = [table.t[\"r.a\"], table.t[\"r.b\"]]\n}":         "is for value, text, sign, above and below",
		"expect {\ncell = table.t[\"r.aa\"]\nsign = \"positive\"\n}":                                 `table.t has no cell "r.aa". Did you mean "r.a"?`,
		"expect {\ncell = table.u[\"r.a\"]\nsign = \"positive\"\n}":                                  `There is no table.u`,
		"expect {\ncell = \"r.a\"\nsign = \"positive\"\n}":                                           `"r.a" is not a cell. Write table.NAME`,
		"expect {\ncell = \"${table.t[\"r.a\"]}x\"\nsign = \"positive\"\n}":                          `table.t has no such cell`,
		"expect {\nminus = [table.t[\"r.a\"]]\nvalue = 1\n}":                                         "minus needs two cells",
		"expect {\nratio = [table.t[\"r.a\"], table.t[\"r.b\"]]\n}":                                  "ratio needs the value",
		"severity = \"deadly\"\nexpect {\ncell = table.t[\"r.a\"]\nsign = \"positive\"\n}":           `"deadly" is not one of`,
		"resources {\nqueue = \"gpu\"\n}\nexpect {\ncell = table.t[\"r.a\"]\nsign = \"positive\"\n}": "A claim does no work",
	} {
		refused(t, "table \"t\" {\n"+table+"}\nclaim \"a claim\" {\ntext = \"It is so.\"\n"+claim+"\n}\n", want)
	}
	const claim = "{\ntext = \"x\"\nexpect {\ncell = table.t[\"r.a\"]\nsign = \"positive\"\n}\n}\n"
	for label, want := range map[string]string{``: "is written claim", `""`: "a few words on one line", `"a" "b"`: "is written claim", "\"x\" " + claim + "claim \"x\"": "Declared twice"} {
		refused(t, "table \"t\" {\n"+table+"}\nclaim "+label+" "+claim, want)
	}
}

// refused loads a pipeline whose mistakes are told by a text.
func refused(t *testing.T, source, want string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.hcl")
	filetest.Write(t, path, source)
	src, err := syntax.Read(path)
	errtest.None(t, err)
	_, ds := pipeline.Load(src, pipeline.Options{Registry: newLocal(t).Registry})
	if !ds.HasErrors() || !strings.Contains(ds.Err().Error(), want) {
		t.Errorf("%s\nsays %v, want %q", source, ds.Err(), want)
	}
}
