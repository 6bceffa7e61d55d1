package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestSplit: an output is what follows a step's name, or its key; without one, all is an address.
func TestSplit(t *testing.T) {
	for name, want := range map[string][3]string{
		`step.dedup.nq.counts`:                  {`step.dedup.nq`, "counts", ""},
		`step.dedup.nq["url"].counts`:           {`step.dedup.nq["url"]`, "counts", ""},
		`step.dedup.nq["a.b]/c"].files/x/y.txt`: {`step.dedup.nq["a.b]/c"]`, "files", "x/y.txt"},
		`table.counts.markdown`:                 {"table.counts", "markdown", ""},
		`module.first["k"].figure.f["a"].pdf`:   {`module.first["k"].figure.f["a"]`, "pdf", ""},
		`step.download.text.files/a.b`:          {"step.download.text", "files", "a.b"},
		`step.dedup.nq`:                         {"step.dedup.nq", "", ""},
		`step.dedup`:                            {"step.dedup", "", ""},
		`step.dedup.nq["url`:                    {`step.dedup.nq["url`, "", ""},
		`table.counts`:                          {"table.counts", "", ""},
	} {
		if address, output, file := split(name); [3]string{address, output, file} != want {
			t.Errorf("%s: %q, %q, %q", name, address, output, file)
		}
	}
}

// TestNameOf: tables and figures have file names of their own, other outputs their names.
func TestNameOf(t *testing.T) {
	for _, c := range []struct{ address, output, want string }{
		{"table.counts", "markdown", "counts.md"},
		{"table.counts", "latex", "counts.tex"},
		{`figure.f["a/b"]`, "pdf", "f-a-b.pdf"},
		{"module.first.table.counts", "csv", "first.counts.csv"},
		{`step.dedup.nq["url"]`, "counts", "counts"},
	} {
		testkit.Is(t, Names(nil).Of(c.address, c.output), c.want, c.output, c.address)
	}
}

// TestNamesOf: no two tables, and no two figures, of a pipeline have one file.
func TestNamesOf(t *testing.T) {
	var steps []pipeline.Step
	long := strings.Repeat("ü", 300)
	for _, name := range []string{`table.t["a/b"]`, `table.t["a-b"]`, "table.t-a-b", "table.T", "table.t", `table.t["other/key"]`, `figure.t["a/b"]`,
		`table.t["Σ"]`, `table.t["ς"]`, `table.t["` + long + `1"]`, `table.t["` + long + `2"]`,
		`figure.f["x"]`, `figure.f["x.vl"]`, `module.m["k"].table.t`, "module.m-k.table.t", "step.command.x"} {
		steps = append(steps, pipeline.Step{Address: name, Block: address.Of(name).Type()})
	}
	want := Names{`table.t["a/b"]`: "-2eb87b3d", `table.t["a-b"]`: "-b225c382", "table.t-a-b": "-324d9790", "table.T": "-3133dee7", "table.t": "-39b3b2d3",
		`table.t["Σ"]`: "-68797188", `table.t["ς"]`: "-25d1e525", `table.t["` + long + `1"]`: "-abfdabff", `table.t["` + long + `2"]`: "-5dbf0aaf",
		`figure.f["x"]`: "-15e3e7c4", `figure.f["x.vl"]`: "-731dec9c", `module.m["k"].table.t`: "-25bdf1c9", "module.m-k.table.t": "-1ecabd67"}
	got := NamesOf(steps)
	testkit.Deep(t, got, want)
	if name := got.Of(`table.t["`+long+`1"]`, "csv"); len(name) > 220 || !utf8.ValidString(name) {
		t.Errorf("%q has %d bytes", name, len(name))
	}
	testkit.Is(t, got.Of(`table.t["other/key"]`, "csv"), "t-other-key.csv")
}

// TestStale: files of earlier runs are named until they are rewritten or removed, except files that a run was not asked
// for.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for i, run := range []struct{ writes, asked, removed, want string }{
		{"a.csv a.md b.csv", "a b", "", ""},
		{"a.csv", "a b", "", "a.md b.csv"}, // b failed, and a has no Markdown any more
		{"a.csv", "a", "", "a.md"},
		{"a.csv c.csv", "a b c", "a.md", "b.csv"},
		{"b.csv", "a b c", "", "a.csv c.csv"},
		{"a.csv b.csv c.csv", "a b c", "", ""},
	} {
		var now []Rendered
		for name := range strings.FieldsSeq(run.writes) {
			f := Rendered{Address: strings.TrimSuffix(name, filepath.Ext(name)), Path: filepath.Join(dir, name)}
			if i%2 == 1 { // the folder may be given in another way
				f.Path = name
			}
			testkit.Write(t, f.Path, "")
			now = append(now, f)
		}
		if run.removed != "" {
			os.Remove(filepath.Join(dir, run.removed))
		}
		stale, err := Stale(filepath.Join(dir, "memory", "x.json"), now, func(address string) bool { return slices.Contains(strings.Fields(run.asked), address) })
		var got []string
		for _, f := range stale {
			got = append(got, filepath.Base(f.Path))
		}
		slices.Sort(got)
		testkit.None(t, err, i+1, got)
		testkit.Is(t, strings.Join(got, " "), run.want, i+1, got)
	}
}
