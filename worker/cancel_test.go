package worker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/workflows"
)

// TestCancelledHolder: the run that works on a step that another one wants too is cancelled. The
// step stops at its checkpoint, and the other run goes on from there, long before a lease that
// nobody renews would count as lost.
func TestCancelledHolder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const src = `
step "text" "slow" {
  text  = "both want it"
  hold  = true
  saves = true
}
`
	first, second := b.start(src, "1"), b.start(src, "2")
	b.next()
	rests, works, _ := b.awaitRest(first, second)
	b.cancel(works)
	for _, want := range []string{"cancelled both want it", "continued both want it"} {
		select {
		case got := <-b.held:
			if got != want {
				t.Fatalf("%q, not %q", got, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("the other run waits: not %q", want)
		}
	}
	if _, err := b.wait(works); err == nil {
		t.Fatal("a cancelled run ended well")
	}
	close(b.hold)
	b.ends(rests, 1)
	b.keep("cancelled", works.GetID(), "")
	b.keep("taken-over", rests.GetID(), "")
}

// TestCancelledRun: of a run that is cancelled nothing has failed. What was at work was
// cancelled; what was queued, or waited for it, was not started.
func TestCancelledRun(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, 1)
	w := b.start(`
step "text" "first" {
  text = "cancelled first"
  hold = true
}
step "text" "queued" {
  text = "cancelled, queued"
  hold = true
}
step "text" "after" {
  text  = "cancelled, after"
  after = [step.text.first.out, step.text.queued.out]
}
`, "1")
	want := "after not started, first cancelled, queued not started"
	if b.next() == "cancelled, queued" { // either may be begun first
		want = "after not started, first not started, queued cancelled"
	}
	b.cancel(w)
	if _, err := b.wait(w); err == nil {
		t.Fatal("a cancelled run ended well")
	}
	testkit.Is(t, b.ended("1"), want)
}

// TestCancelledStep: a step whose workflow is cancelled alone has not failed; what needs
// it is cancelled, too, and the run does the others.
func TestCancelledStep(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.start(`
step "split" "first" {
  text = "cancelled alone"
  hold = true
}
step "text" "after" {
  text  = "after it"
  after = step.split.first.out
}
step "short" "other" { text = "beside one that is cancelled" }
`, "1")
	b.next()
	b.cancel(b.c.GetWorkflow(t.Context(), workflows.StepWorkflowID(w.GetRunID(), 0), ""))
	_, err := b.wait(w)
	failed := workflows.ErrorOf(err)
	if failed == nil || !strings.HasPrefix(failed.Text, "2 of 3 steps cancelled:") || failed.Result.Cancelled != 2 {
		t.Fatal(err)
	}
	testkit.Is(t, b.ended("1"), "after cancelled, first cancelled, other ran")
	b.keep("cut-cancelled", w.GetID(), "")
}

func (b *bench) cancel(w client.WorkflowRun) {
	b.t.Helper()
	testkit.None(b.t, b.c.CancelWorkflow(context.Background(), w.GetID(), ""))
}

// TestCancelOneStep: a step of a run is cancelled, whether it is at work, waits, or is in a batch; what needs it is cancelled, too, and
// the run does the others.
func TestCancelOneStep(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.start(`
step "text" "held" {
  text = "cancelled one"
  hold = true
}
step "text" "after" {
  text  = "after one"
  after = step.text.held.out
}
step "split" "parts" {
  text  = "parts of one"
  hold  = true
  split = 1
}
step "text" "other" {
  text = "beside one"
  hold = true
}
step "short" "last" {
  for_each = toset(["a", "b"])
  text     = "last ${each.key}"
  after    = step.text.other.out
}
`, "1")
	for range 3 {
		b.next()
	}
	cancel := func(target string) (cancelled []string, err error) {
		u, err := b.c.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{WorkflowID: w.GetID(), UpdateName: workflows.CancelStepsUpdate, Args: []any{target}, WaitForStage: client.WorkflowUpdateStageCompleted})
		if err == nil {
			err = u.Get(t.Context(), &cancelled)
		}
		return cancelled, err
	}
	for _, target := range []string{"step.text.held", "step.split.parts", `step.short.last["b"]`} {
		got, err := cancel(target)
		testkit.None(t, err)
		testkit.Deep(t, got, []string{target}, target)
	}
	_, err := cancel("step.text.no")
	testkit.ErrSays(t, err, "the run has no step step.text.no")
	_, err = cancel("step.text.held")
	testkit.ErrSays(t, err, "step.text.held has ended")
	close(b.hold)
	_, err = b.wait(w)
	testkit.ErrSays(t, err, "4 of 6 steps cancelled:", "step.text.held, step.split.parts", "it was cancelled by itself")
	const want = `after cancelled, held cancelled, last["a"] ran, last["b"] cancelled, other ran, parts cancelled`
	testkit.Is(t, b.ended("1"), want)
	b.keep("step-cancelled", w.GetID(), "")
}

// attempts is what a workflow's history says of its first activity of a kind.
func (b *bench) attempts(w client.WorkflowRun, kind string) (s *history.ActivityTaskScheduledEventAttributes, started *history.ActivityTaskStartedEventAttributes) {
	b.t.Helper()
	var id int64
	events := b.c.GetWorkflowHistory(context.Background(), w.GetID(), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		testkit.None(b.t, err)
		if a := e.GetActivityTaskScheduledEventAttributes(); s == nil && a != nil && a.ActivityType.Name == kind {
			s, id = a, e.EventId
		}
		if a := e.GetActivityTaskStartedEventAttributes(); a != nil && a.ScheduledEventId == id {
			return s, a
		}
	}
	b.t.Fatalf("%s was not started", kind)
	return nil, nil
}

// TestHandBack: what a worker that stops was doing goes to another one at once, and is
// not missed by its heartbeats.
func TestHandBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.start(`
step "text" "long" {
  text = "handed back"
  hold = true
}`, "1")
	b.says("handed back")
	b.queue.Stop()
	b.says("cancelled handed back")
	b.startWorker()
	b.says("handed back")
	close(b.hold)
	b.ends(w, 1)
	_, started := b.attempts(w, workflows.DoActivity)
	if started.Attempt != 2 || started.LastFailure.GetMessage() != "interrupted: the worker is ending" {
		t.Errorf("attempt %d, after %v", started.Attempt, started.LastFailure)
	}
}
