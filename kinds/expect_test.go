package kinds_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
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
		"expect \"r.a\" {\nvalue = 1\ntext = \"x\"\n}":                            "text takes no value",
		"expect \"fall\" {\norder = [\"r.a\", \"q.a\"]\n}":                        `the table has no row "q"`,
		`expect = [{ cell = "r.a", value = 1 }, { cell = "r.z", above = [] }]`:    "expect[1]",
		`expect = [{ cell = "r.z", above = ["r.a"] }]`:                            `no column "z"`,
		`expect = [{ cell = "r.a", sign = "upward" }]`:                            `"upward" is not one of`,
		`expect = [{ cell = "d", minus = ["r.a"], value = 1 }]`:                   "minus needs two cells",
		`expect = [{ cell = "d", ratio = ["r.a", "r.b"] }]`:                       "ratio needs the value",
		`expect = [{ cell = "r.a", value = 1, std = 1, std_factor = 0.5 }]`:       "std_factor is at least 1",
		`expect = [{ cell = "r.a", value = 1, shown = true, tolerance = 1 }]`:     "numbers that are compared",
		`expect = [{ cell = "r.a", value = 1, margin = 1, claim = "It is so." }]`: "margin is for",
	} {
		refused(t, "table \"t\" {\n"+table+expect+"\n}\n", want)
	}
}

// refused loads a pipeline whose mistakes are told by a text.
func refused(t *testing.T, source, want string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.hcl")
	if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	src, err := pipeline.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	_, ds := pipeline.Load(src, pipeline.Options{Registry: newLocal(t).Registry})
	if !ds.HasErrors() || !strings.Contains(ds.Err().Error(), want) {
		t.Errorf("%s\nsays %v, want %q", source, ds.Err(), want)
	}
}
