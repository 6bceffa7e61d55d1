package why

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestRan: a step of an ended run is explained by its newest result before that run.
func TestRan(t *testing.T) {
	store := mem.New()
	made := func(config string) artifacts.Digest {
		t.Helper()
		preimage := []byte(`{"config":` + config + `,"format":"` + step.KeyFormat + `","kind":"command","version":1}`)
		out := artifacts.Artifact{Type: "file", Digest: storetest.Put(t, store, []byte(config)), Size: int64(len(config))}
		r := artifacts.Result{Key: artifacts.KeyOf(preimage), Preimage: preimage, Outputs: map[string]artifacts.Artifact{"out": out}}
		storetest.Publish(t, store, r)
		return r.Key
	}
	one, two := made(`{"x":1}`), made(`{"x":2}`)
	run := func(id string, steps ...runs.Step) *runs.Record {
		t.Helper()
		rec := runs.Record{RunID: id, Pipeline: "p.hcl", Steps: steps}
		testkit.None(t, runs.Write(t.Context(), store, rec))
		return &rec
	}
	run("20260101T000000Z-1", runs.Step{Address: "step.a", Key: one, Outcome: runs.Ran}, runs.Step{Address: "step.b", Key: one, Outcome: runs.Ran})
	rec := run("20260102T000000Z-2", runs.Step{Address: "step.a", Key: two, Outcome: runs.Ran}, runs.Step{Address: "step.b", Key: one, Outcome: runs.Ran},
		runs.Step{Address: "step.c", Key: two, Outcome: runs.Hit}, runs.Step{Address: "step.d", Key: two, Outcome: runs.Ran})
	answers, err := Ran(t.Context(), artifacts.Alone(store), rec, step.Diff, func(address string) bool { return true })
	if err != nil || len(answers) != 4 {
		t.Fatalf("%+v, %v", answers, err)
	}
	if a := answers[0]; a.Against != "20260101T000000Z-1" || len(a.Changes) != 1 || a.Changes[0].String() != "config.x: 1 -> 2" {
		t.Errorf("%+v", a)
	}
	if a := answers[1]; !strings.Contains(a.Reason, "nothing had changed since run 20260101T000000Z-1") {
		t.Errorf("%+v", a)
	}
	if a := answers[2]; a.Made == nil || a.Made.Key != two {
		t.Errorf("%+v", a)
	}
	if a := answers[3]; a.Reason != "no earlier run had a result of it" {
		t.Errorf("%+v", a)
	}
	if none, err := Ran(t.Context(), artifacts.Alone(store), rec, step.Diff, func(string) bool { return false }); none != nil || err != nil {
		t.Errorf("%+v, %v", none, err)
	}
}
