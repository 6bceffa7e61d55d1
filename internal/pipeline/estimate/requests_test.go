package estimate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// TestFarOff: a request is told where the step, or others of its block, took more or less than
// a quarter; what other kinds of steps took says nothing, nor does a small request.
func TestFarOff(t *testing.T) {
	v := preview(
		stepOf{address: "step.a.hit", kind: "a", outcome: plan.Hit},
		stepOf{address: "step.a.less", kind: "a", outcome: plan.Run},
		stepOf{address: "step.a.near", kind: "a", outcome: plan.Run},
		stepOf{address: "step.a.kind", kind: "a", outcome: plan.Run},
		stepOf{address: `step.b.of["x"]`, kind: "b", outcome: plan.Hit},
		stepOf{address: `step.b.of["y"]`, kind: "b", outcome: plan.Run},
		stepOf{address: "step.a.small", kind: "a", outcome: plan.Hit},
		stepOf{address: "step.a.none", kind: "a", outcome: plan.Hit},
		stepOf{address: "step.c.unknown", kind: "c", outcome: plan.Run},
	)
	for i, asked := range map[int]int64{0: 4e9, 1: 5e9, 2: 5e9, 3: 1e9, 4: 1e9, 5: 1e9, 6: 1e6, 8: 1e9} {
		v.Plan.Steps[i].Resources = &step.Resources{Memory: asked, At: "p.hcl:7"}
	}
	v.Items[0].Memory, v.Items[4].Memory, v.Items[6].Memory, v.Items[7].Memory = 6e9, 2e9, 1e3, 9e9
	e := Of(v, History{Samples: map[int][]Sample{1: {{Memory: 1e9}}, 2: {{Memory: 4e9}}}})
	want := map[int]string{
		0: "asks for 4.0 GB and took 6.0 GB at most (p.hcl:7)",
		1: "asks for 5.0 GB and took 1.0 GB at most (p.hcl:7)",
		4: "asks for 1.0 GB and took 2.0 GB at most (p.hcl:7)",
		5: "asks for 1.0 GB and took 2.0 GB at most (p.hcl:7)",
	}
	if d := cmp.Diff(want, e.FarOff(v)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
