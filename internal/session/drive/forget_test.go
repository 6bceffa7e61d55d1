package drive

import (
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/pipeline/plan"
)

// TestSelected: a block means its instances; with downstream, also what depends on them.
func TestSelected(t *testing.T) {
	p := &plan.Plan{Steps: []plan.Step{{Address: `step.a.x["1"]`}, {Address: `step.a.x["2"]`}, {Address: "step.b.y", Deps: []int{1}}, {Address: "table.t", Deps: []int{2}}, {Address: "step.c.z"}}}
	for _, c := range []struct {
		target     string
		downstream bool
		want       []bool
	}{
		{"step.a.x", false, []bool{true, true, false, false, false}},
		{`step.a.x["2"]`, true, []bool{false, true, true, true, false}},
		{`step.a.x["1"]`, true, []bool{true, false, false, false, false}},
	} {
		if got := selected(p, c.target, c.downstream); !slices.Equal(got, c.want) {
			t.Errorf("%s, %v: %v", c.target, c.downstream, got)
		}
	}
}
