package journal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/testkit"
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
			testkit.None(t, store.Records.Put(t.Context(), artifacts.CheckpointName(keys[i], n), []byte("{}")))
		}
	}
	all := kinds.Registry()
	found, err := Checkpoints(t.Context(), all, store, pl, keys)
	if err != nil || len(found) != 3 {
		t.Fatalf("%v, %v", found, err)
	}
	for i, want := range []string{"has a checkpoint at step 600 of 1,000", "has a checkpoint at document 2,048", "has a checkpoint"} {
		testkit.Is(t, found[i].String(), want, pl.Steps[i].Address)
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
		testkit.None(t, err)
		key, _, err := all.Key(task)
		testkit.None(t, err)
		pl := &plan.Plan{Steps: []plan.Step{{Address: "step.train.x", Task: task}}}
		return &plan.Preview{Plan: pl, Items: []plan.Item{{Outcome: plan.Run, Key: key, Bound: &task}}}
	}
	put := func(key artifacts.Digest, n int64) {
		t.Helper()
		testkit.None(t, store.Records.Put(t.Context(), artifacts.CheckpointName(key, n), []byte("{}")))
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
		testkit.None(t, err)
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

// TestFailedLine: a plan's line has the error's first line, and what a program said last where
// that only announces it.
func TestFailedLine(t *testing.T) {
	for text, want := range map[string]string{
		"no such file":                     "failed before: no such file",
		"line 7\nmore":                     "failed before: line 7…",
		"its end:\nTraceback\nKeyError: y": "failed before: its end: KeyError: y",
		strings.Repeat("ä", 200) + "\nx":   "failed before: " + strings.Repeat("ä", errorShown) + "…",
	} {
		testkit.Is(t, (Failed{runs.Remembered{Failure: runs.Failure{Error: text}, Times: 1}}).String(), want, text)
	}
}

// TestLastOfProject: last counts the runs of a project, last~N is N and nothing behind it, and both stop at a damaged record.
func TestLastOfProject(t *testing.T) {
	store := mem.New()
	for i, project := range []string{"ours", "theirs", ""} {
		testkit.None(t, runs.Write(t.Context(), store, runs.Record{RunID: fmt.Sprintf("2026010%dT000000Z-00000000", i+1), Pipeline: "p.hcl", Project: project}))
	}
	for name, want := range map[string]string{"last": "20260103", "last~1": "20260101"} {
		if rec, err := Find(t.Context(), store, "ours", name); err != nil || !strings.HasPrefix(rec.RunID, want) {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
	}
	for _, name := range []string{"last~1zzz", "last~", "last~+1", "last~-1", "last1", "last~1 "} {
		testkit.ErrSays(t, testkit.Err(Find(t.Context(), store, "", name)), "is not last or last~N")
	}
	testkit.ErrSays(t, testkit.Err(Find(t.Context(), store, "ours", "last~2")), "records of only 2 runs of this project")
	testkit.None(t, store.Records.Put(t.Context(), artifacts.RunsPrefix+"20260109T000000Z", []byte("{")))
	testkit.ErrSays(t, testkit.Err(Find(t.Context(), store, "ours", "last")), "redsi verify --repair")
	n := 0
	for _, err := range newest(t.Context(), store, "", "ours", "p.hcl") {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	testkit.Is(t, n, 1, "records are read")
	for _, want := range []int{1, 0} {
		if r, err := artifacts.Check(t.Context(), store, artifacts.CheckOptions{Repair: true}); err != nil || len(r.Problems) != want {
			t.Errorf("%+v, %v, want %d", r.Problems, err, want)
		}
	}
	if rec, err := Find(t.Context(), store, "ours", "last"); err != nil || !strings.HasPrefix(rec.RunID, "20260103") {
		t.Errorf("repaired: %+v, %v", rec, err)
	}
}

// TestOthersRuns: however many runs of others a shared store has, those of a pipeline are found,
// and collection that keeps its newest leaves what last~N reads.
func TestOthersRuns(t *testing.T) {
	store := mem.New()
	put := func(day int, project string, steps int) *runs.Record {
		rec := runs.Record{RunID: fmt.Sprintf("202601%02dT000000Z-00000000", day), Pipeline: "p.hcl", Project: project}
		for i := range steps {
			rec.Steps = append(rec.Steps, runs.Step{Address: fmt.Sprintf("step.command.fit[%q]", fmt.Sprint(i)), Key: artifacts.Sum(fmt.Append(nil, i)), Outcome: runs.Ran})
		}
		testkit.None(t, runs.Write(t.Context(), store, rec))
		return &rec
	}
	put(1, "ours", 3000)
	for i := range 25 {
		put(2+i, "theirs", 1)
	}
	now := put(28, "ours", 1)
	const address = `step.command.fit["2999"]`
	for range 2 {
		found, err := Before(t.Context(), store, now, map[string]bool{address: true})
		testkit.None(t, err, "found", found)
		testkit.Is(t, found[address].Run, "20260101T000000Z-00000000", "found", found)
		testkit.None(t, testkit.Err(artifacts.Collect(t.Context(), store, artifacts.GCOptions{KeepRuns: 1, Now: time.Now().Add(100 * time.Hour)})))
	}
	if rec, err := Find(t.Context(), store, "ours", "last~1"); err != nil || len(rec.Steps) != 3000 {
		t.Errorf("%+v, %v", rec, err)
	}
}
