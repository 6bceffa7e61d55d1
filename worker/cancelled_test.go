package worker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// outcomes is what a record says of each step, in the order of the plan.
func (b *bench) outcomes(id string) (is []runs.Status) {
	for _, s := range b.record(id).Steps {
		is = append(is, s.Outcome)
	}
	return is
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
	want := []runs.Status{runs.Cancelled, runs.NotStarted, runs.NotStarted}
	if b.next() == "cancelled, queued" { // either may be begun first
		want[0], want[1] = want[1], want[0]
	}
	b.cancel(w)
	if _, err := b.wait(w); err == nil {
		t.Fatal("a cancelled run ended well")
	}
	if is := b.outcomes("1"); !slices.Equal(is, want) {
		t.Errorf("%v", is)
	}
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
	if is := b.outcomes("1"); !slices.Equal(is, []runs.Status{runs.Cancelled, runs.Cancelled, runs.Ran}) {
		t.Errorf("%v", is)
	}
	b.keep("cut-cancelled", w.GetID(), "")
}

// TestFailuresOfOneCause: steps that fail alike are told in one line.
func TestFailuresOfOneCause(t *testing.T) {
	b := newBench(t)
	bad := func(text string) error { return step.Permanent(errors.New("the disk is full")) }
	b.fail.Store(&bad)
	w := b.start(`
step "short" "many" {
  for_each = toset([for i in range(12) : format("one cause %02d", i)])
  text     = each.key
}
`, "1")
	_, err := b.wait(w)
	if failed := workflows.ErrorOf(err); failed == nil || failed.Text != "12 of 12 steps failed:\n"+`step.short.many["one cause 00"], step.short.many["one cause 01"], step.short.many["one cause 02"], step.short.many["one cause 03"], step.short.many["one cause 04"] and 7 more: the disk is full` {
		t.Fatal(err)
	}
}

func (b *bench) cancel(w client.WorkflowRun) {
	b.t.Helper()
	errtest.None(b.t, b.c.CancelWorkflow(context.Background(), w.GetID(), ""))
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
		errtest.None(t, err)
		if !slices.Equal(got, []string{target}) {
			t.Errorf("%s: %v", target, got)
		}
	}
	_, err := cancel("step.text.no")
	errtest.Says(t, err, "the run has no step step.text.no")
	_, err = cancel("step.text.held")
	errtest.Says(t, err, "step.text.held has ended")
	close(b.hold)
	_, err = b.wait(w)
	errtest.Says(t, err, "4 of 6 steps cancelled:", "step.text.held, step.split.parts", "it was cancelled by itself")
	const want = `after cancelled, held cancelled, last["a"] ran, last["b"] cancelled, other ran, parts cancelled`
	if got := b.ended("1"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	b.keep("step-cancelled", w.GetID(), "")
}
