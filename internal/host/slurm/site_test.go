package slurm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestSite asks a real Slurm, in a folder that its nodes see: jobs are submitted, found and taken back, and a script
// has what it was asked for, in words as they were given.
func TestSite(t *testing.T) {
	folder := os.Getenv("REDSI_TEST_SLURM")
	if folder == "" {
		t.Skip("REDSI_TEST_SLURM names a folder that the nodes of this machine's Slurm see")
	}
	p := Pilot{Name: "p", Flags: []string{"--comment=a 'b' c"}, Has: capacity.Amount{CPUs: 2, Memory: 100e6}, Time: 5 * time.Minute}
	done := filepath.Join(folder, "done")
	j := Job{Pilot: p, Name: filepath.Base(t.TempDir()) + "-redsi", Setup: []string{"export SAID=x"}, Output: folder,
		Worker: []string{"bash", "-c", `echo "$SAID $SLURM_CPUS_PER_TASK $SLURM_MEM_PER_NODE $SLURM_ARRAY_TASK_ID a  b"; while [ ! -e "$0" ]; do sleep 0.1; done`, done}}
	j.Name += time.Now().Format("150405.000")
	if at, err := j.FirstStart(t.Context()); err != nil || time.Until(at).Abs() > 24*time.Hour {
		t.Fatal(at, err)
	}
	late := j
	late.Pilot.Flags = append(slices.Clone(p.Flags), "--begin=now+1hour")
	id, err := late.Submit(t.Context(), 2)
	testkit.None(t, err)
	until := func(id string, state State) (found Queued) {
		t.Helper()
		for range 150 {
			all, err := List(t.Context(), j.Name)
			testkit.None(t, err)
			i := slices.IndexFunc(all, func(q Queued) bool { return strings.HasPrefix(q.ID, id) && q.State == state })
			if i >= 0 {
				return all[i]
			}
			testkit.None(t, readers.Pause(t.Context(), 200*time.Millisecond))
		}
		t.Fatalf("%s is never in state %d", id, state)
		return found
	}
	until(id+"_2", Pending)
	testkit.None(t, Cancel(t.Context(), id+"_1", id+"_2"))
	if q := until(id, Ended); q.Said != "CANCELLED" || !q.Starts.IsZero() {
		t.Errorf("taken back: %+v", q)
	}
	id, err = j.Submit(t.Context(), 1)
	testkit.None(t, err)
	if q := until(id+"_1", Running); q.Ends.Sub(q.Starts) != p.Time {
		t.Errorf("%+v", q)
	}
	testkit.None(t, Cancel(t.Context(), id+"_1"))
	testkit.None(t, os.WriteFile(done, nil, 0o644))
	if q := until(id+"_1", Ended); q.Said != "COMPLETING" && q.Said != "COMPLETED" {
		t.Errorf("%+v", q)
	}
	testkit.Is(t, testkit.Text(t, filepath.Join(folder, id+"_1.log")), "x 2 96 1 a  b\n")
}
