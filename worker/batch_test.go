package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/workflows"
)

// scheduled counts the activities that a run asked the server for, by name.
func (b *bench) scheduled(w client.WorkflowRun) map[string]int {
	b.t.Helper()
	n := map[string]int{}
	events := b.c.GetWorkflowHistory(context.Background(), w.GetID(), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		errtest.None(b.t, err)
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			n[a.ActivityType.Name]++
		}
	}
	return n
}

// awaitCounts waits until a run's state has so many steps of a status.
func (b *bench) awaitCounts(w client.WorkflowRun, status runs.Status, want int) {
	b.t.Helper()
	b.awaitState(func(s workflows.State) bool { return s.Counts[status] == want }, w)
}

// lengthy is a chain: each step writes the last bytes of what it reads and its text.
func lengthy(n int, root string) string {
	src := fmt.Sprintf("step \"text\" \"c0\" {\n text = %q\n last = 4\n}\n", root)
	for i := 1; i < n; i++ {
		src += fmt.Sprintf("step \"text\" \"c%d\" {\n text = \"chain %d\"\n after = step.text.c%d.out\n}\n", i, i, i-1)
	}
	return src
}

// TestShortStepsGoTogether: when some of a class are known to be short, the others cost
// few activities, however they hang together; when nothing changes for them, one
// look-up finds all of that.
func TestShortStepsGoTogether(t *testing.T) {
	b := newBenchOf(t, 2)
	src := lengthy(60, "root") + `
step "text" "wide" {
  for_each = toset([for i in range(100) : tostring(i)])
  text     = "wide ${each.key}"
  after    = step.text.c3.out
}
`
	w := b.start(src, "1")
	b.ends(w, 160)
	n := b.scheduled(w)
	t.Log(n)
	if n["Do"] > 30 || n["Prepare"] > 10 {
		t.Errorf("160 short steps took %v", n)
	}
	if b.count("chain 59") != 1 || b.count("wide 99") != 1 {
		t.Error("steps ran again")
	}
	if got := b.record("1"); len(got.Steps) != 160 || got.Counts[runs.Ran] != 160 {
		t.Errorf("its record has %d steps, %v", len(got.Steps), got.Counts)
	}
	if hit, ran := b.run(src, "2"); hit != 160 || ran != 0 {
		t.Errorf("again: %d hit, %d ran", hit, ran)
	}
	w = b.start(strings.Replace(src, `"root"`, `"another root"`, 1), "3")
	if r, err := b.wait(w); err != nil || r.Ran != 1 || r.Hit != 159 {
		t.Fatal(r, err)
	}
	if n := b.scheduled(w); n["Do"] != 1 || n["Prepare"] > 3 {
		t.Errorf("one step that changes nothing after it took %v", n)
	}
}

// TestSlowStepOfABatch: steps that were given out with one that takes long go on
// without it, and what reads them too.
func TestSlowStepOfABatch(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, 2)
	w := b.start(`
step "short" "a_slow" {
  text = "slow one of a batch"
  hold = true
}
step "short" "b" {
  for_each = toset([for i in range(23) : tostring(i)])
  text     = "beside ${each.key}"
}
step "text" "reader" {
  for_each = step.short.b
  text     = "reads"
  after    = each.value.out
}
`, "1")
	b.next()
	b.awaitCounts(w, runs.Ran, 46)
	b.awaitCounts(w, runs.Running, 1)
	close(b.hold)
	b.ends(w, 47)
	for _, text := range []string{"slow one of a batch", "beside 0", "beside 22"} {
		if n := b.count(text); n != 1 {
			t.Errorf("%q ran %d times", text, n)
		}
	}
}

// TestCancelledBatch: a run that is cancelled ends its batches, and the next one goes on.
func TestCancelledBatch(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, 2)
	src := `
step "short" "held" {
  text = "cancelled in a batch"
  hold = true
}
`
	w := b.start(src, "1")
	b.next()
	errtest.None(t, b.c.CancelWorkflow(context.Background(), w.GetID(), ""))
	b.says("cancelled cancelled in a batch")
	if _, err := b.wait(w); err == nil {
		t.Fatal("a cancelled run ended well")
	}
	close(b.hold)
	if hit, ran := b.run(src, "2"); hit != 0 || ran != 1 {
		t.Errorf("after the cancellation: %d hit, %d ran", hit, ran)
	}
}

// TestFailuresInABatch: a step of a batch ends as it would alone.
func TestFailuresInABatch(t *testing.T) {
	b := newBenchOf(t, 2)
	fail := func(text string) error {
		switch {
		case text == "passing" && b.count(text) == 1:
			return errors.New("it passes")
		case text == "panics":
			panic("on purpose")
		}
		return nil
	}
	b.fail.Store(&fail)
	w := b.start(`
step "short" "passing" { text = "passing" }
step "short" "panics" { text = "panics" }
step "short" "fine" { text = "fine" }
step "short" "reader" {
  text  = "reader"
  after = [step.short.panics.out, step.short.fine.out]
}
`, "1")
	_, err := b.wait(w)
	if err == nil || !strings.Contains(err.Error(), "1 of 4 steps failed, 1 skipped") || !strings.Contains(err.Error(), "a bug in redsi: on purpose") {
		t.Fatal(err)
	}
	if got := b.record("1").Counts; got[runs.Ran] != 2 || b.count("passing") != 2 {
		t.Errorf("%v; what passes ran %d times", got, b.count("passing"))
	}
}

// TestSomebodyElse: who shares only the store and is at the same step is waited
// for, and not in a slot of those who work.
func TestSomebodyElse(t *testing.T) {
	b := newBenchOf(t, 1)
	src := `
step "text" "a" { text = "somebody else a" }
step "short" "b" { text = "somebody else b" }
step "short" "c" { text = "meanwhile" }
`
	b.run(src, "0") // for its keys
	other := lease.New(b.store.Leases, slog.New(slog.DiscardHandler))
	var held []*lease.Held
	for _, address := range []string{"step.text.a", "step.short.b"} {
		key := b.result(src, address).Key
		errtest.None(t, b.store.Records.Delete(t.Context(), "results/"+key.Hex()))
		h, _, err := other.Take(t.Context(), key, lease.Claim{Run: "other", Step: address})
		if err != nil || h == nil {
			t.Fatal(h, err)
		}
		held = append(held, h)
	}
	src = strings.Replace(src, "meanwhile", "meanwhile 2", 1)
	w := b.start(src, "1")
	b.awaitCounts(w, runs.Ran, 1)
	if b.count("somebody else a") != 1 || b.count("somebody else b") != 1 {
		t.Fatal("a step ran that somebody else is at")
	}
	for _, h := range held {
		h.Release()
	}
	b.ends(w, 3)
	if b.count("somebody else a") != 2 || b.count("somebody else b") != 2 {
		t.Error("what was given back did not run once")
	}
	for _, err := range b.store.Leases.List(t.Context(), "") {
		t.Errorf("a lease is left: %v", err)
	}
}
