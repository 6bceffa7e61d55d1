package files

import "testing"

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
		if got := NameOf(c.address, c.output); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.output, c.address, got, c.want)
		}
	}
}
