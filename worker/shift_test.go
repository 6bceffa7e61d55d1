package worker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/worker"
)

// TestShiftThatIsTooShort: a worker takes nothing that took longer the last time than it
// has left; another one does it.
func TestShiftThatIsTooShort(t *testing.T) {
	t.Parallel()
	b := idleBench(t, 2)
	src := `
step "text" "long" { text = "too long for a shift" }
`
	pl, digest := b.plan(src)
	err := runs.Write(t.Context(), b.store, runs.Record{RunID: "before", Pipeline: pl.Pipeline, Plan: digest,
		Steps: []runs.Step{{Address: "step.text.long", Outcome: runs.Ran, TookS: 3600}}})
	errtest.None(t, err)
	short := worker.New(b.c, b.activities(), worker.Options{Queues: []string{b.t.Name()}, CPU: 2, Shift: worker.Shift{Until: 30 * time.Minute}})
	errtest.None(t, short.Start())
	w := b.start(src, "1")
	select {
	case why := <-short.Ended():
		if !strings.Contains(why, "no remaining step fits") {
			t.Errorf("it ended since %s", why)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
	short.Stop()
	if n := b.count("too long for a shift"); n != 0 {
		t.Fatalf("the step ran %d times", n)
	}
	b.startWorker()
	b.ends(w, 1)
}
