package journal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestLastRuns: last~N is N and nothing behind it.
func TestLastRuns(t *testing.T) {
	store := mem.New()
	for i := range 2 {
		errtest.None(t, runs.Write(t.Context(), store, runs.Record{RunID: fmt.Sprintf("2026010%dT000000Z-00000000", i+1), Pipeline: "p.hcl"}))
	}
	if rec, err := Find(t.Context(), store, "", "last~1"); err != nil || !strings.HasPrefix(rec.RunID, "20260101") {
		t.Errorf("%+v, %v", rec, err)
	}
	for _, name := range []string{"last~1zzz", "last~", "last~+1", "last~-1", "last1", "last~1 "} {
		if rec, err := Find(t.Context(), store, "", name); err == nil || !strings.Contains(err.Error(), "is not last or last~N") {
			t.Errorf("%q is %+v, %v", name, rec, err)
		}
	}
}

// TestLastOfProject: last counts the runs of a project, and stops at a damaged record.
func TestLastOfProject(t *testing.T) {
	store := mem.New()
	for i, project := range []string{"ours", "theirs", ""} {
		errtest.None(t, runs.Write(t.Context(), store, runs.Record{RunID: fmt.Sprintf("2026010%dT000000Z-00000000", i+1), Pipeline: "p.hcl", Project: project}))
	}
	for name, want := range map[string]string{"last": "20260103", "last~1": "20260101"} {
		if rec, err := Find(t.Context(), store, "ours", name); err != nil || !strings.HasPrefix(rec.RunID, want) {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
	}
	errtest.Says(t, errtest.Of(Find(t.Context(), store, "ours", "last~2")), "records of only 2 runs of this project")
	errtest.None(t, store.Records.Put(t.Context(), artifacts.RunsPrefix+"20260109T000000Z", []byte("{")))
	errtest.Says(t, errtest.Of(Find(t.Context(), store, "ours", "last")), "redsi verify --repair")
	n := 0
	for _, err := range newest(t.Context(), store, "", "ours", "p.hcl") {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 1 {
		t.Errorf("%d records are read", n)
	}
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
		errtest.None(t, runs.Write(t.Context(), store, rec))
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
		if err != nil || found[address].Run != "20260101T000000Z-00000000" {
			t.Errorf("found %v, %v", found, err)
		}
		errtest.None(t, errtest.Of(artifacts.Collect(t.Context(), store, artifacts.GCOptions{KeepRuns: 1, Now: time.Now().Add(100 * time.Hour)})))
	}
	if rec, err := Find(t.Context(), store, "ours", "last~1"); err != nil || len(rec.Steps) != 3000 {
		t.Errorf("%+v, %v", rec, err)
	}
}
