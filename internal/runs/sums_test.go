package runs

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestSpent: each key counts once, whichever runs had it; failures of other pipelines and
// runs do not count, and damaged records are told.
func TestSpent(t *testing.T) {
	store := mem.New()
	publish := func(name string, took time.Duration, u *artifacts.Used) artifacts.Digest {
		preimage := []byte(`{"kind":"` + name + `"}`)
		r := artifacts.Result{Key: artifacts.KeyOf(preimage), Preimage: preimage, Took: took, Used: u, Outputs: map[string]artifacts.Artifact{}}
		if _, _, err := artifacts.Publish(t.Context(), artifacts.Alone(store), r); err != nil {
			t.Fatal(err)
		}
		return r.Key
	}
	first := publish("first", time.Hour, &artifacts.Used{CPU: 5, CPUOf: artifacts.CPUOfProgram, Read: 3, Card: "X", CardMemory: 9})
	second := publish("second", time.Minute, nil)
	gone := artifacts.Sum([]byte("gone"))
	run := func(id, project string, steps ...Step) {
		errtest.None(t, Write(t.Context(), store, Record{RunID: id, Pipeline: "p.hcl", Project: project, Steps: steps}))
	}
	run("1", "mine", Step{Address: "a", Key: first, Outcome: Ran, TookS: 3600}, Step{Address: "b", Key: gone, Outcome: Ran, TookS: 30},
		Step{Address: "c", Outcome: Failed})
	run("2", "mine", Step{Address: "a", Key: first, Outcome: Hit, TookS: 3600}, Step{Address: "b", Key: second, Outcome: Ran, TookS: 60})
	run("3", "other", Step{Address: "a", Key: artifacts.Sum([]byte("x")), Outcome: Ran, TookS: 9999})
	for n, f := range []Failure{{RunID: "1", Outcome: Failed, TookS: 20}, {RunID: "2", Outcome: Cancelled, TookS: 7200}, {RunID: "3", Outcome: Failed, TookS: 9999}, {RunID: "0", Outcome: Failed, TookS: 9999}} {
		f.Key = artifacts.Sum(fmt.Append(nil, n))
		errtest.None(t, WriteFailure(t.Context(), store, f))
	}
	errtest.None(t, store.Records.Put(t.Context(), artifacts.RunsPrefix+"4", []byte(`{`)))
	s, err := SpentBy(t.Context(), artifacts.Alone(store), "mine", "p.hcl")
	errtest.None(t, err)
	r := s.Results
	if s.Runs != 2 || s.Damaged != 1 || s.Gone != 1 || r.Steps != 3 || r.Took != time.Hour+90*time.Second || r.CPU != 5 || r.Measured != 1 || r.CardTook != time.Hour {
		t.Errorf("%+v", s)
	}
	if s.Failed.Steps != 1 || s.Failed.TookS != 20 || s.Cancelled.Steps != 1 || s.Cancelled.TookS != 7200 || s.Took() != 3*time.Hour+110*time.Second {
		t.Errorf("%+v, %s in all", s, s.Took())
	}
}

// TestTookOfPipeline: how long steps took is known however many runs of other pipelines the store has
// had since, within bounds.
func TestTookOfPipeline(t *testing.T) {
	store := mem.New()
	write := func(n int, pipeline string) {
		t.Helper()
		rec := Record{RunID: fmt.Sprintf("run-%03d", n), Pipeline: pipeline, Steps: []Step{{Address: "step.a.b", Outcome: Ran, TookS: float64(n)}}}
		errtest.None(t, Write(t.Context(), store, rec))
	}
	write(1, "mine")
	write(2, "mine")
	for n := range runsLooked - 1 {
		write(10+n, "other")
	}
	if got := Took(t.Context(), store, slog.New(slog.DiscardHandler), "", "mine"); len(got) != 1 || got["step.a.b"] != 2 {
		t.Errorf("%v, want 2 s", got)
	}
	write(100, "other")
	if got := Took(t.Context(), store, slog.New(slog.DiscardHandler), "", "mine"); len(got) != 0 {
		t.Errorf("%v of more than %d runs ago", got, runsLooked)
	}
}
