package step

import (
	"context"
	"errors"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
)

// TestHalf: a kind with Needs runs where its half is, its parts likewise, and elsewhere says
// what is missing; what Unless names runs in either program.
func TestHalf(t *testing.T) {
	type config struct {
		Count  int    `hcl:"count" help:"h"`
		Device string `hcl:"device,optional,nokey" help:"h"`
	}
	out := []Output{{Name: "out", Type: "text"}}
	kind := Kind[config]{Name: "fit", Version: 1, Doc: "d", Outputs: out, Needs: Libtorch, Device: func(c config) string { return c.Device }}
	part := kind
	part.Name, part.Needs = "part", Tokenizers
	part.Unless, part.Run = func(c config) bool { return c.Count == 0 }, func(context.Context, *IO, config) error { return errors.New("by itself") }
	kind.Parts = []Spec{DefinePart(part).Spec}
	declared := Define(kind)
	by := func(context.Context, *IO, config) error { return errors.New("by its half") }
	computable := WithHalves([]Spec{declared}, Compute(declared, by), Compute(kind.Parts[0], by))

	for _, c := range []struct {
		specs     []Spec
		name      string
		count     int64
		elsewhere bool
		says      string
	}{
		{[]Spec{declared}, "fit", 1, true, "kind fit needs libtorch, which this program does not have"},
		{[]Spec{declared}, "part", 1, true, "kind part needs tokenizers"},
		{[]Spec{declared}, "part", 0, false, "by itself"},
		{computable, "fit", 1, false, "by its half"},
		{computable, "part", 0, false, "by its half"},
	} {
		spec := NewRegistry(c.specs...).Lookup(c.name)
		tree := map[string]any{"count": c.count, "device": "cuda:1"}
		elsewhere, err := spec.Elsewhere(tree)
		if err != nil || elsewhere != c.elsewhere {
			t.Errorf("%s %d: elsewhere %v, %v", c.name, c.count, elsewhere, err)
		}
		errtest.Says(t, spec.Run(t.Context(), nil, tree), c.says)
		if d, err := spec.DeviceOf(tree); d != "cuda:1" || err != nil {
			t.Errorf("%s: device %q, %v", c.name, d, err)
		}
	}
	if declared.Kind.Run != nil {
		t.Error("the declaration was changed")
	}
}
