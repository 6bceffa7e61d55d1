package pipeline_test

import (
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
)

func TestSplitAddress(t *testing.T) {
	for address, want := range map[string][4]string{
		"table.counts":                     {"", "table.counts", "table.counts", "table"},
		`step.dedup.nq["a.b[c]"]`:          {"", `step.dedup.nq["a.b[c]"]`, "step.dedup.nq", "step"},
		`module.a.step.x.y["k"]`:           {"module.a", `step.x.y["k"]`, "module.a.step.x.y", "step"},
		`module.a["]."].module.b.figure.z`: {`module.a["]."].module.b`, "figure.z", `module.a["]."].module.b.figure.z`, "figure"},
		`module.a["\"]."].step.x.y`:        {`module.a["\"]."]`, "step.x.y", `module.a["\"]."].step.x.y`, "step"},
		`module.a`:                         {"", "module.a", "module.a", "module"},
		`module.a["b"]`:                    {"", `module.a["b"]`, "module.a", "module"},
		`module.a["b`:                      {"", `module.a["b`, "module.a", "module"},
		`module.a["b"]x`:                   {"", `module.a["b"]x`, "module.a", "module"},
		``:                                 {"", "", "", ""},
	} {
		module, local := pipeline.SplitAddress(address)
		got := [4]string{module, local, pipeline.BlockOf(address), pipeline.BlockType(address)}
		if got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
