package step

import (
	"context"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
)

type walkConfig struct {
	Steps int    `hcl:"steps" help:"how far"`
	Gait  string `hcl:"gait,optional" help:"in which way"`
	Rest  int    `hcl:"rest,added" help:"when to end"`
	Keep  bool   `hcl:"keep,added,nokey" help:"what is kept"`
}

// TestTrajectory: tasks that differ in what the kind names, or in what is in no key, have
// theirs in common, and it is the key of no result; a configuration may have none.
func TestTrajectory(t *testing.T) {
	spec := Define(Kind[walkConfig]{Name: "walk", Version: 1, Doc: "Walk.", Outputs: []Output{{Name: "out", Type: "files"}}, Defaults: walkConfig{Gait: "slow"},
		Trajectory: func(c walkConfig) []string {
			if c.Gait == "timed" {
				return nil
			}
			return []string{"steps", "rest"}
		},
		Run: func(context.Context, *IO, walkConfig) error { return nil }})
	other := Define(Kind[walkConfig]{Name: "stand", Version: 1, Doc: "Stand.", Outputs: []Output{{Name: "out", Type: "files"}},
		Run: func(context.Context, *IO, walkConfig) error { return nil }})
	reg := NewRegistry(spec, other)
	of := func(kind string, tree map[string]any) (string, bool) {
		t.Helper()
		task, err := NewTask(reg.Lookup(kind), tree)
		errtest.None(t, err)
		key, ok, err := reg.Trajectory(task)
		errtest.None(t, err)
		if result, _, err := reg.Key(task); err != nil || result == key {
			t.Errorf("%v: the key of its result is %v, %v", tree, result, err)
		}
		return key.Hex(), ok
	}
	short, ok := of("walk", map[string]any{"steps": int64(1)})
	if !ok {
		t.Error("there is none")
	}
	for _, same := range []map[string]any{{"steps": int64(9)}, {"steps": int64(1), "rest": int64(3)}, {"steps": int64(2), "keep": true, "gait": "slow"}} {
		if key, ok := of("walk", same); key != short || !ok {
			t.Errorf("%v: %s, want %s", same, key, short)
		}
	}
	if key, ok := of("walk", map[string]any{"steps": int64(1), "gait": "fast"}); key == short || !ok {
		t.Errorf("another gait: %s, %v", key, ok)
	}
	if _, ok := of("walk", map[string]any{"steps": int64(1), "gait": "timed"}); ok {
		t.Error("a configuration without one has one")
	}
	if _, ok := of("stand", map[string]any{"steps": int64(1)}); ok {
		t.Error("a kind without one has one")
	}
}
