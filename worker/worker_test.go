package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/errtest"
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
	b.fails("b", "b is wrong: line 7")
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
	errtest.None(t, b.store.Blobs.Delete(ctx, b.result(chain, "step.text.b").Outputs["out"].Digest))
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
	b.says("slow")
	rested, _, note := b.awaitRest(first, second) // either may be the one that came first
	if words := []string{".slow of run TestTwoRunsShareOneStep", ".renamed of run TestTwoRunsShareOneStep"}; !strings.Contains(note, words[0]) && !strings.Contains(note, words[1]) {
		t.Errorf("it does not say for whom it waits: %s", note)
	}
	close(b.hold)
	r1, err1 := b.wait(first)
	r2, err2 := b.wait(second)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if b.count("slow") != 1 || r1.Ran+r2.Ran != 1 || r1.Hit+r2.Hit != 1 {
		t.Fatalf("it ran %d times; first %+v, second %+v", b.count("slow"), r1, r2)
	}
	b.keep("rested", rested.GetID(), "")
}

// TestWaitingTakesNoSlot: runs that wait for a step of another one leave the slots to other steps.
func TestWaitingTakesNoSlot(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, 2)
	var all []client.WorkflowRun
	for _, id := range []string{"1", "2", "3", "4"} {
		all = append(all, b.start(`
step "text" "slow" {
  text = "slot"
  hold = true
}
step "text" "own" { text = "own `+id+`" }
`, id))
	}
	b.next()
	for _, w := range all {
		b.awaitCounts(w, runs.Ran, 1)
	}
	close(b.hold)
	ran := 0
	for _, w := range all {
		r, err := b.wait(w)
		errtest.None(t, err)
		ran += r.Ran
	}
	if ran != 5 || b.count("slot") != 1 {
		t.Fatalf("5 steps ran %d times, the shared one %d times", ran, b.count("slot"))
	}
}

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

// TestCancelledWaiter: a run that waits for a step of another one and is cancelled ends at once,
// and the other one goes on.
func TestCancelledWaiter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const src = `
step "text" "slow" {
  text = "one waits"
  hold = true
}
`
	first, second := b.start(src, "1"), b.start(src, "2")
	b.next()
	rests, works, _ := b.awaitRest(first, second)
	b.cancel(rests)
	if _, err := b.wait(rests); err == nil {
		t.Fatal("a cancelled run ended well")
	}
	close(b.hold)
	if r, err := b.wait(works); err != nil || r.Ran != 1 || b.count("one waits") != 1 {
		t.Fatalf("%+v, %v; it ran %d times", r, err, b.count("one waits"))
	}
}
