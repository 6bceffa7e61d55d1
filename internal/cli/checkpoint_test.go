package cli

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/artifacts/mem"
	"github.com/redsi/redsi/internal/plan"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// TestCheckpoints: a step that was interrupted says how far it is, in the units of its
// kind, by its newest checkpoint.
func TestCheckpoints(t *testing.T) {
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
			if err := store.Records.Put(t.Context(), artifacts.CheckpointName(keys[i], n), []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
	}
	a := &app{Registry: kinds.Registry()}
	found, err := a.checkpoints(t.Context(), store, pl, keys)
	if err != nil || len(found) != 3 {
		t.Fatalf("%v, %v", found, err)
	}
	for i, want := range []string{"has a checkpoint at step 600 of 1,000", "has a checkpoint at document 2,048", "has a checkpoint"} {
		if got := found[i].String(); got != want {
			t.Errorf("%s: %q, want %q", pl.Steps[i].Address, got, want)
		}
	}
	e := &cancelledError{id: "r", sum: "1 hit, 1 cancelled", resumes: []checkpoint{found[0]}, next: "`redsi run` goes on"}
	if got, want := e.Error(), "run r was cancelled: 1 hit, 1 cancelled\nstep.train has a checkpoint at step 600 of 1,000\n`redsi run` goes on"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if strings.Contains(found[2].String(), "of") {
		t.Error(found[2])
	}
}
