package journal

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// TestCheckpoints: a step that was interrupted says how far it is, in the units of its
// kind, by its newest checkpoint.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	store := mem.New()
	pl := &plan.Plan{}
	keys := map[int]artifacts.Digest{}
	for i, x := range []struct {
		kind, config string
		at           []int64
	}{
		{"train", `{"steps":1000}`, []int64{400, 600}},
		{"embed", `{}`, []int64{2048}},
		{"download", `{}`, []int64{3}},
		{"train", `{"steps":1000}`, nil},
	} {
		pl.Steps = append(pl.Steps, plan.Step{Address: "step." + x.kind, Task: step.Task{Kind: x.kind, Config: []byte(x.config)}})
		keys[i] = artifacts.Digest{byte(i + 1)}
		for _, n := range x.at {
			errtest.None(t, store.Records.Put(t.Context(), artifacts.CheckpointName(keys[i], n), []byte("{}")))
		}
	}
	all := kinds.Registry()
	found, err := Checkpoints(t.Context(), all, store, pl, keys)
	if err != nil || len(found) != 3 {
		t.Fatalf("%v, %v", found, err)
	}
	for i, want := range []string{"has a checkpoint at step 600 of 1,000", "has a checkpoint at document 2,048", "has a checkpoint"} {
		if got := found[i].String(); got != want {
			t.Errorf("%s: %q, want %q", pl.Steps[i].Address, got, want)
		}
	}
	if strings.Contains(found[2].String(), "of") {
		t.Error(found[2])
	}
}

// TestKeptState: a step without a checkpoint of its own says what it goes on from of others,
// which is no further than it goes.
func TestKeptState(t *testing.T) {
	store := mem.New()
	all := kinds.Registry()
	in := step.In(artifacts.Artifact{Type: "files", Digest: artifacts.Sum([]byte("x"))})
	of := func(steps int64, schedule string) *plan.Preview {
		t.Helper()
		task, err := step.NewTask(all.Lookup("train"), map[string]any{"model": in, "ids": in, "corpus": in, "queries": in, "tokenizer": in, "steps": steps, "schedule": schedule})
		errtest.None(t, err)
		key, _, err := all.Key(task)
		errtest.None(t, err)
		pl := &plan.Plan{Steps: []plan.Step{{Address: "step.train.x", Task: task}}}
		return &plan.Preview{Plan: pl, Items: []plan.Item{{Outcome: plan.Run, Key: key, Bound: &task}}}
	}
	put := func(key artifacts.Digest, n int64) {
		t.Helper()
		errtest.None(t, store.Records.Put(t.Context(), artifacts.CheckpointName(key, n), []byte("{}")))
	}
	key, ok, err := all.Trajectory(of(5000, "constant").Items[0].Task())
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	put(key, 1000)
	put(key, 8000)
	for _, c := range []struct {
		steps    int64
		schedule string
		want     string // "": nothing
	}{
		{5000, "constant", "continues from a shorter step's checkpoint at step 1,000 of 5,000"},
		{9000, "constant", "continues from a shorter step's checkpoint at step 8,000 of 9,000"},
		{500, "constant", ""}, {5000, "inverse_sqrt", ""}, {5000, "linear", ""},
	} {
		v := of(c.steps, c.schedule)
		found, err := Resumable(t.Context(), all, store, v)
		errtest.None(t, err)
		if got, ok := found[0]; ok != (c.want != "") || ok && got.String() != c.want {
			t.Errorf("%d steps, %s: %q, want %q", c.steps, c.schedule, got, c.want)
		}
	}
	v := of(5000, "constant")
	put(v.Items[0].Key, 200)
	if found, err := Resumable(t.Context(), all, store, v); err != nil || found[0].String() != "has a checkpoint at step 200 of 5,000" {
		t.Errorf("its own: %v, %v", found, err)
	}
}
