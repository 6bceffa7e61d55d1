package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/devserver/devservertest"
	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/worker"
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

// TestRunAgain: what is there is a hit, whatever its step is called; an edit runs what depends on it, a lost
// blob its producer alone.
func TestRunAgain(t *testing.T) {
	b := newBench(t)
	edited := strings.Replace(chain, `"b"`+"\n  after", `"B"`+"\n  after", 1)
	renamed := strings.ReplaceAll(strings.ReplaceAll(chain, `"text" "b"`, `"text" "other"`), "step.text.b", "step.text.other")
	for i, c := range []struct {
		src      string
		hit, ran int
	}{{chain, 0, 3}, {chain, 3, 0}, {edited, 1, 2}, {"# a comment\n" + renamed, 3, 0}} {
		id := strconv.Itoa(i)
		if hit, ran := b.run(c.src, id); hit != c.hit || ran != c.ran {
			t.Fatalf("run %s: %d hit, %d ran", id, hit, ran)
		}
		if rec := b.record(id); len(rec.Steps) != 3 || (rec.Steps[0].Outcome == runs.Hit) != (c.hit > 0) || rec.Steps[0].Key.IsZero() {
			t.Fatalf("record of run %s: %+v", id, rec)
		}
	}
	testkit.Is(t, b.text(edited, "step.short.c"), "aaBc", "c")
	testkit.None(t, b.store.Blobs.Delete(t.Context(), b.result(chain, "step.text.b").Outputs["out"].Digest))
	w := b.start(chain, "lost")
	if r, err := b.wait(w); err != nil || r.Hit != 2 || r.Ran != 1 || b.count("b") != 2 || b.count("a") != 1 {
		t.Fatalf("%+v, %v; a ran %d, b %d times", r, err, b.count("a"), b.count("b"))
	}
	b.keep("lost", w.GetID(), "")
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
		testkit.Is(t, b.count(part), want, part)
	}
}

// TestWaitingTakesNoSlot: runs that wait for a step of another one say for which, and leave the slots to
// other steps; the step runs once.
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
	rested, _, note := b.awaitRest(all[0], all[1]) // at least one of the two waits
	testkit.Says(t, note, ".slow of run "+t.Name())
	close(b.hold)
	ran := 0
	for _, w := range all {
		r, err := b.wait(w)
		testkit.None(t, err)
		ran += r.Ran
	}
	if ran != 5 || b.count("slot") != 1 {
		t.Fatalf("5 steps ran %d times, the shared one %d times", ran, b.count("slot"))
	}
	b.keep("rested", rested.GetID(), "")
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

// TestFresh: a result that is too old is made again, and what reads it is a hit if its bytes are the same.
func TestFresh(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	src := func(text string) string {
		return fmt.Sprintf(`
step "text" "listing" {
  text  = "listing"
  fresh = "24h"
}
step "%s" "reads" {
  text  = "reads"
  after = step.text.listing.out
}
`, text)
	}
	b.run(src("text"), "1")
	if hit, ran := b.run(src("text"), "2"); hit != 2 || ran != 0 {
		t.Fatalf("while it is fresh: %d hit, %d ran", hit, ran)
	}
	age := func(by time.Duration) {
		t.Helper()
		res := b.result(src("text"), "step.text.listing")
		res.Finished = res.Finished.Add(-by)
		testkit.None(t, artifacts.DropResult(context.Background(), b.store, res.Key))
		_, _, err := artifacts.Publish(context.Background(), artifacts.Alone(b.store), *res)
		testkit.None(t, err)
	}
	age(23 * time.Hour)
	if hit, ran := b.run(src("text"), "3"); hit != 2 || ran != 0 {
		t.Fatalf("an hour before it is no more: %d hit, %d ran", hit, ran)
	}
	age(2 * time.Hour)
	if hit, ran := b.run(src("short"), "4"); hit != 0 || ran != 2 { // as a batch and by itself
		t.Fatalf("with another reader: %d hit, %d ran", hit, ran)
	}
	age(25 * time.Hour)
	if hit, ran := b.run(src("text"), "5"); hit != 1 || ran != 1 {
		t.Fatalf("when it is no more: %d hit, %d ran", hit, ran)
	}
	if hit, ran := b.run(src("text"), "6"); hit != 2 || ran != 0 || b.count("listing") != 3 {
		t.Fatalf("made again: %d hit, %d ran; %d times", hit, ran, b.count("listing"))
	}
}

// TestSchedule: a schedule of Temporal starts runs, each of which has a name of its own; what is done is a hit.
func TestSchedule(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, plan := b.plan("step \"text\" \"a\" { text = \"scheduled\" }\n")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	h, err := b.c.ScheduleClient().Create(ctx, client.ScheduleOptions{ID: t.Name(), Spec: client.ScheduleSpec{CronExpressions: []string{"0 3 1 1 *"}},
		Action: &client.ScheduleWorkflowAction{ID: t.Name(), Workflow: workflows.ReproduceWorkflow, TaskQueue: t.Name(), Args: []any{workflows.ReproduceInput{Pipeline: "t.hcl", Plan: &plan}}}})
	testkit.None(t, err)
	ran := map[string]workflows.ReproduceResult{}
	for n := 1; n <= 2; n++ {
		testkit.None(t, h.Trigger(ctx, client.ScheduleTriggerOptions{Overlap: enums.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL}))
		for len(ran) < n {
			d, err := h.Describe(ctx)
			testkit.None(t, err)
			for _, a := range d.Info.RecentActions {
				w := a.StartWorkflowResult
				var r workflows.ReproduceResult
				testkit.None(t, b.c.GetWorkflow(ctx, w.WorkflowID, w.FirstExecutionRunID).Get(ctx, &r))
				ran[r.RunID] = r
			}
		}
	}
	hit, made := 0, 0
	for id, r := range ran {
		if _, ok := workflows.RunBegan(id); !ok {
			t.Errorf("a run has the name %q", id)
		}
		hit, made = hit+r.Hit, made+r.Ran
	}
	testkit.Is(t, hit, 1, ran)
	testkit.Is(t, made, 1, ran)
}

// TestLongHistory: a run whose history grows long continues in another execution,
// although one of its steps rests for longer than all others take; the next execution
// asks for that one again.
func TestLongHistory(t *testing.T) {
	t.Parallel()
	program, err := devserver.Find()
	testkit.None(t, err)
	long, err := devservertest.Start(t.Context(), devserver.Options{Program: program, SearchAttributes: workflows.SearchAttributes(), Long: 100})
	testkit.None(t, err)
	t.Cleanup(long.Stop)
	opts, err := long.ClientOptions()
	testkit.None(t, err)
	b := benchAt(t, opts, 8, payload.Codec{}, nil)
	b.startWorker()
	const slow = `
step "text" "long" {
  text = "long history"
  hold = true
}
`
	holder := b.start(slow, "1")
	b.says("long history")
	w := b.start(slow+`
step "split" "many" { # each in a workflow of its own: three events at least, of the 100 after which this server speaks up
  for_each = toset([for i in range(40) : tostring(i)])
  text     = "many ${each.key}"
}
step "short" "last" {
  text  = "last"
  after = [step.text.long.out, step.split.many["7"].out]
}
`, "2")
	first := w.GetRunID()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	end, err := b.c.GetWorkflowHistory(ctx, w.GetID(), first, true, enums.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT).Next()
	if err != nil || end.EventType != enums.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW {
		t.Fatalf("the run did not go on in another execution: %v, %v", end, err)
	}
	d, err := b.c.DescribeWorkflowExecution(ctx, w.GetID(), "")
	if err != nil || d.ExecutionConfig.DefaultWorkflowTaskTimeout.AsDuration() != workflows.TaskTimeout {
		t.Errorf("the next execution has %v, %v", d.GetExecutionConfig(), err)
	}
	close(b.hold)
	var r workflows.ReproduceResult
	if err := w.Get(ctx, &r); err != nil || r.Ran != 41 || r.Hit != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := holder.Get(ctx, &r); err != nil || r.Ran != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	b.keep("long-1", w.GetID(), first)
	b.keep("long-2", w.GetID(), "")
	testkit.Is(t, b.count("long history"), 1, "the long step ran times")
}

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
	testkit.None(t, err)
	short := worker.New(b.c, b.activities(), worker.Options{Queues: []string{b.t.Name()}, CPU: 2, Shift: worker.Shift{Until: 30 * time.Minute}})
	testkit.None(t, short.Start())
	w := b.start(src, "1")
	select {
	case why := <-short.Ended():
		testkit.Says(t, why, "no remaining step fits")
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
