package journal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/workflows"
)

// TestLastRuns: last~N is N and nothing behind it.
func TestLastRuns(t *testing.T) {
	store := mem.New()
	for i := range 2 {
		if err := activities.WriteRun(t.Context(), store, workflows.RunRecord{RunID: fmt.Sprintf("2026010%dT000000Z-00000000", i+1), Pipeline: "p.hcl"}); err != nil {
			t.Fatal(err)
		}
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
		if err := activities.WriteRun(t.Context(), store, workflows.RunRecord{RunID: fmt.Sprintf("2026010%dT000000Z-00000000", i+1), Pipeline: "p.hcl", Project: project}); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"last": "20260103", "last~1": "20260101"} {
		if rec, err := Find(t.Context(), store, "ours", name); err != nil || !strings.HasPrefix(rec.RunID, want) {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
	}
	if _, err := Find(t.Context(), store, "ours", "last~2"); err == nil || !strings.Contains(err.Error(), "records of only 2 runs of this project") {
		t.Error(err)
	}
	if err := store.Records.Put(t.Context(), artifacts.RunsPrefix+"20260109T000000Z", []byte("{")); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(t.Context(), store, "ours", "last"); err == nil {
		t.Error("a damaged record is left out")
	}
	n := 0
	for _, err := range newest(t.Context(), store, "") {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 3 {
		t.Errorf("%d records are read", n)
	}
}
