package transfer

import (
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestSelections: a run is its results and its record, the store is all results and records; a second copy copies
// nothing.
func TestSelections(t *testing.T) {
	from, to := mem.New(), mem.New()
	var steps []runs.Step
	for _, name := range []string{"a", "b"} {
		r := storetest.NewResult(t, from, name, map[string]string{"o": name})
		storetest.Publish(t, from, r)
		steps = append(steps, runs.Step{Address: "step.x." + name, Key: r.Key, Outcome: runs.Ran})
	}
	steps[1].Outcome = runs.Failed
	rec := runs.Record{RunID: "20260101T000000Z-00000000", Steps: steps}
	testkit.None(t, runs.Write(t.Context(), from, rec))
	run, err := Run(t.Context(), from, &rec)
	testkit.That(t, err == nil && len(run.Keys) == 1 && len(run.Records) == 1, run, err)
	all, err := All(t.Context(), from)
	testkit.That(t, err == nil && len(all.Keys) == 2 && len(all.Records) == 1, all, err)
	for _, want := range []int{2, 0} {
		c := &artifacts.Transfer{From: from.Reader(), To: to}
		if err := Copy(t.Context(), c, "push-x", all); err != nil || c.Done().Results != want {
			t.Errorf("%+v, %v", c.Done(), err)
		}
	}
}

// TestHoldEnds: also after an error, nothing holds what has arrived any more.
func TestHoldEnds(t *testing.T) {
	from, to := mem.New(), mem.New()
	err := Copy(t.Context(), &artifacts.Transfer{From: from.Reader(), To: to}, "push-x", Selection{Records: []string{"runs/gone"}})
	left, lerr := artifacts.RecordNames(t.Context(), to.Records, artifacts.OpenRunPrefix)
	testkit.That(t, err != nil && lerr == nil && len(left) <= 0, err, "left", left, lerr)
}

// TestOpen: only a copy that is not just tried makes a folder.
func TestOpen(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	for _, address := range []string{folder, "file://" + folder} {
		testkit.Some(t, testkit.Err(Open(t.Context(), address, false, false)), address)
	}
	if s, err := Open(t.Context(), folder, true, true); err != nil || s.URL != folder {
		t.Errorf("%s, %v", s.URL, err)
	}
	testkit.Some(t, testkit.Err(Open(t.Context(), folder, false, false)), "trying made a folder")
	testkit.None(t, testkit.Err(Open(t.Context(), folder, true, false)))
}
