package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

const chain = `
step "text" "a" { text = "a" }
step "text" "b" {
  text  = "b"
  after = step.text.a.out
}
step "short" "c" {
  text  = "c"
  after = [step.text.a.out, step.text.b.out]
}
`

func TestSecondRunDoesNothing(t *testing.T) {
	b := newBench(t)
	if hit, ran := b.run(chain, "1"); hit != 0 || ran != 3 {
		t.Fatalf("first run: %d hit, %d ran", hit, ran)
	}
	if got := b.text(chain, "step.short.c"); got != "aabc" {
		t.Fatalf("c is %q", got)
	}
	if hit, ran := b.run(chain, "2"); hit != 3 || ran != 0 {
		t.Fatalf("second run: %d hit, %d ran", hit, ran)
	}
	for _, s := range []string{"a", "b", "c"} {
		if n := b.count(s); n != 1 {
			t.Errorf("%s ran %d times", s, n)
		}
	}
	rec := b.record("2")
	if len(rec.Steps) != 3 || rec.Steps[0].Outcome != runs.Hit || rec.Steps[0].Key.IsZero() {
		t.Fatalf("record of the second run: %+v", rec)
	}
}

func TestEditRerunsWhatDependsOnIt(t *testing.T) {
	b := newBench(t)
	b.run(chain, "1")
	if hit, ran := b.run(strings.Replace(chain, `"b"`+"\n  after", `"B"`+"\n  after", 1), "2"); hit != 1 || ran != 2 {
		t.Fatalf("after editing b: %d hit, %d ran", hit, ran)
	}
	renamed := strings.ReplaceAll(strings.ReplaceAll(chain, `"text" "b"`, `"text" "other"`), "step.text.b", "step.text.other")
	if hit, ran := b.run("# a comment\n"+renamed, "3"); hit != 3 || ran != 0 {
		t.Fatalf("after a rename and a comment: %d hit, %d ran", hit, ran)
	}
}

func TestEarlyCutoff(t *testing.T) {
	b := newBench(t)
	src := `
step "text" "a" {
  text = "one same"
  last = 4
}
step "text" "b" {
  text  = "b"
  after = step.text.a.out
}
`
	b.run(src, "1")
	if hit, ran := b.run(strings.Replace(src, "one", "two", 1), "2"); hit != 1 || ran != 1 {
		t.Fatalf("%d hit, %d ran: b reads the same bytes and must be a hit", hit, ran)
	}
}

func TestPartsAreCachedAlone(t *testing.T) {
	b := newBench(t)
	src := `
step "split" "s" {
  text  = "p"
  split = 3
}
`
	b.run(src, "1")
	if got := b.text(src, "step.split.s"); got != "p0 p1 p2 " {
		t.Fatalf("parts joined to %q", got)
	}
	b.run(strings.Replace(src, "3", "5", 1), "2")
	for part, want := range map[string]int64{"p0 ": 1, "p2 ": 1, "p3 ": 1, "p4 ": 1} {
		if n := b.count(part); n != want {
			t.Errorf("part %q ran %d times, want %d", part, n, want)
		}
	}
}

func TestFailureStopsOnlyWhatDependsOnIt(t *testing.T) {
	b := newBench(t)
	bad := func(text string) error {
		if text == "b" {
			return step.Permanent(errors.New("b is wrong: line 7"))
		}
		return nil
	}
	b.fail.Store(&bad)
	src := chain + `step "text" "d" { text = "d" }`
	w := b.start(src, "1")
	_, err := b.wait(w)
	if err == nil || !strings.Contains(err.Error(), "step.text.b: b is wrong: line 7") {
		t.Fatalf("the run's error is %v", err)
	}
	b.keep("failed", w.GetID(), "")
	if b.count("d") != 1 || b.count("c") != 0 || b.count("b") != 1 {
		t.Fatalf("d ran %d, c %d, b %d times", b.count("d"), b.count("c"), b.count("b"))
	}
	outcomes := map[string]runs.Status{}
	for _, s := range b.record("1").Steps {
		outcomes[s.Address] = s.Outcome
	}
	if outcomes["step.short.c"] != runs.Skipped || outcomes["step.text.b"] != runs.Failed || outcomes["step.text.d"] != runs.Ran {
		t.Fatalf("outcomes: %v", outcomes)
	}
	b.fail.Store(nil)
	if hit, ran := b.run(src, "2"); hit != 2 || ran != 2 {
		t.Fatalf("after mending b: %d hit, %d ran", hit, ran)
	}
}

func TestTransientErrorsAreRetriedAndPanicsAreNot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	flaky := func(text string) error {
		switch {
		case text == "a" && b.count("a") < 2:
			return errors.New("the network is away")
		case text == "p":
			panic("a bug")
		}
		return nil
	}
	b.fail.Store(&flaky)
	if hit, ran := b.run(`step "text" "a" { text = "a" }`, "1"); hit != 0 || ran != 1 || b.count("a") != 2 {
		t.Fatalf("%d hit, %d ran, a was tried %d times", hit, ran, b.count("a"))
	}
	_, err := b.wait(b.start(`step "text" "p" { text = "p" }`, "2"))
	if err == nil || !strings.Contains(err.Error(), "a bug in redsi: a bug") || b.count("p") != 1 {
		t.Fatalf("%d tries, %v", b.count("p"), err)
	}
}

func TestLostBlobRerunsOnlyItsProducer(t *testing.T) {
	b := newBench(t)
	b.run(chain, "1")
	ctx := context.Background()
	if err := b.store.Blobs.Delete(ctx, b.result(chain, "step.text.b").Outputs["out"].Digest); err != nil {
		t.Fatal(err)
	}
	w := b.start(chain, "2")
	if r, err := b.wait(w); err != nil || r.Hit != 2 || r.Ran != 1 || b.count("b") != 2 || b.count("a") != 1 {
		t.Fatalf("%+v, %v; a ran %d, b %d times", r, err, b.count("a"), b.count("b"))
	}
	b.keep("lost", w.GetID(), "")
}

func TestTwoRunsShareOneStep(t *testing.T) {
	b := newBench(t)
	src := `
step "text" "slow" {
  text = "slow"
  hold = true
}
`
	first, second := b.start(src, "1"), b.start(strings.Replace(src, `"slow" {`, `"renamed" {`, 1), "2")
	if got := b.next(); got != "slow" {
		t.Fatal(got)
	}
	b.awaitShared(first, second) // either may be the one that came first
	close(b.hold)
	r1, err1 := b.wait(first)
	r2, err2 := b.wait(second)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if b.count("slow") != 1 || r1.Ran+r2.Ran > 1 || r1.Hit+r1.Ran+r2.Hit+r2.Ran != 2 {
		t.Fatalf("it ran %d times; first %+v, second %+v", b.count("slow"), r1, r2)
	}
	b.keep("shared-1", first.GetID(), "")
	b.keep("shared-2", second.GetID(), "")
	b.keep("shared-step", workflows.StepWorkflowID(b.result(src, "step.text.slow").Key), "")
}

// Runs that wait for each other's steps must leave the slots to the steps.
func TestWaitingTakesNoSlot(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, 1)
	src := `
step "text" "slow" {
  for_each = ["p", "q", "r", "s"]
  text     = "slot ${each.value}"
  hold     = true
}
`
	runs := []client.WorkflowRun{b.start(src, "1"), b.start(src, "2"), b.start(src, "3")}
	b.next()
	b.awaitShared(runs...)
	close(b.hold)
	ran := 0
	for _, r := range runs {
		got, err := b.wait(r)
		if err != nil {
			t.Fatal(err)
		}
		ran += got.Ran
	}
	if ran > 4 {
		t.Fatalf("4 steps ran %d times", ran)
	}
}

func TestLastToLeaveCancels(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	src := `
step "text" "slow" {
  text = "leave" # one server holds the steps of all tests: a key of its own
  hold = true
}
`
	first, second := b.start(src, "1"), b.start(src, "2")
	b.next()
	b.awaitShared(first, second)
	ctx := context.Background()
	if err := b.c.CancelWorkflow(ctx, first.GetID(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := b.wait(first); err == nil {
		t.Fatal("a cancelled run ended well")
	}
	select {
	case got := <-b.held:
		t.Fatalf("the step was stopped although a run still wants it: %s", got)
	default:
	}
	if err := b.c.CancelWorkflow(ctx, second.GetID(), ""); err != nil {
		t.Fatal(err)
	}
	if got := b.next(); got != "cancelled leave" {
		t.Fatal(got)
	}
	if _, err := b.wait(second); err == nil {
		t.Fatal("a cancelled run ended well")
	}
	b.keep("left-1", first.GetID(), "")
	b.keep("left-2", second.GetID(), "")
	close(b.hold)
	if hit, ran := b.run(src, "3"); hit != 0 || ran != 1 {
		t.Fatalf("after the cancellation: %d hit, %d ran", hit, ran)
	}
}
