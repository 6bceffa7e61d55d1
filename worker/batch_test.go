package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/workflows"
)

// scheduled counts the activities that a run asked the server for, by name.
func (b *bench) scheduled(w client.WorkflowRun) map[string]int {
	b.t.Helper()
	n := map[string]int{}
	events := b.c.GetWorkflowHistory(context.Background(), w.GetID(), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		testkit.None(b.t, err)
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
	testkit.That(t, n["Do"] <= 30 && n["Prepare"] <= 10, "160 short steps took", n)
	testkit.Is(t, b.count("chain 59"), 1, "steps ran again")
	testkit.Is(t, b.count("wide 99"), 1, "steps ran again")
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
		testkit.Is(t, b.count(text), 1, text)
	}
}

// TestFailuresInABatch: a step of a batch ends as it would alone; its failure stops only what depends on it.
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
	testkit.ErrSays(t, err, "1 of 4 steps failed, 1 skipped", "a bug in redsi: on purpose")
	if got := b.record("1").Counts; got[runs.Ran] != 2 || b.count("passing") != 2 || b.count("panics") != 1 {
		t.Errorf("%v; what passes ran %d times, what panics %d", got, b.count("passing"), b.count("panics"))
	}
	b.keep("failed", w.GetID(), "")
}

// pieces is a pipeline whose steps are known only while it runs: those of split, then,
// from what one of them wrote, whether last runs.
func pieces(files string) string {
	return `
step "text" "slow" {
  text = "slow"
  hold = true
}
step "tree" "split" { files = { ` + files + ` } }
step "text" "piece" {
  for_each = files(step.tree.split.out, "p/*")
  text     = "piece ${each.key} "
  after    = each.file
}
step "tree" "other" {
  files = { "q/1" = "one" }
  after = step.tree.split.out["other"]
}
step "short" "more" {
  for_each = files(step.tree.other.out, "q/*")
  text     = "more"
  after    = [each.file, step.tree.split.out["other"]]
}
step "short" "gather" {
  text  = "all"
  after = concat([step.text.slow.out], step.text.piece[*].out, step.short.more[*].out)
}
step "tree" "verdict" {
  files = { "r.json" = jsonencode({ ok = true, names = ["x", "y"] }) }
  after = step.text.piece[*].out
}
step "short" "good" {
  when = json(step.tree.verdict.out, "r.json:ok")
  text = "good"
}
step "short" "bad" {
  when = !json(step.tree.verdict.out, "r.json:ok")
  text = "bad"
}
step "short" "named" {
  for_each = toset(json(step.tree.verdict.out, "r.json:names"))
  text     = "named ${each.key}"
  after    = try(step.short.good.out, step.short.bad.out)
}
`
}

// ended are the steps of a run's record.
func (b *bench) ended(id string) string {
	var all []string
	for _, s := range b.record(id).Steps {
		_, name, _ := strings.Cut(strings.TrimPrefix(s.Address, "step."), ".")
		all = append(all, fmt.Sprintf("%s %s", name, s.Outcome))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// TestGrow runs steps that are known only when others have run, while a step that was begun
// before is still at work; the worker is another one in the middle of it.
func TestGrow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.start(pieces(`"p/a" = "A", "p/b" = "B", "other" = "C"`), "1")
	b.says("slow")
	b.awaitState(func(s workflows.State) bool { return s.Counts[runs.Ran] == 9 }, w) // all that does not need slow
	b.queue.Stop()
	b.startWorker()
	for b.next() != "slow" { // "cancelled slow" of the first worker comes before
	}
	close(b.hold)
	r, err := b.wait(w)
	if err != nil || r.Ran != 11 {
		t.Fatalf("%+v, %v", r, err)
	}
	const first = `gather ran, good ran, more["1"] ran, named["x"] ran, named["y"] ran, other ran, piece["a"] ran, piece["b"] ran, slow ran, split ran, verdict ran`
	testkit.Is(t, b.ended("1"), first)
	b.keep("grown", w.GetID(), "")

	// One piece is another one: it alone runs, and what gathers them.
	w = b.start(pieces(`"p/a" = "A", "p/b" = "BB", "other" = "D"`), "2")
	if r, err = b.wait(w); err != nil || r.Ran != 6 {
		t.Fatalf("%+v, %v", r, err)
	}
	const second = `gather ran, good hit, more["1"] ran, named["x"] hit, named["y"] hit, other ran, piece["a"] hit, piece["b"] ran, slow hit, split ran, verdict ran`
	testkit.Is(t, b.ended("2"), second)

	// Nothing is another one: nothing runs, whichever pieces came first.
	if r, err = b.wait(b.start(pieces(`"p/a" = "A", "p/b" = "BB", "other" = "D"`), "3")); err != nil || r.Ran != 0 || r.Hit != 11 {
		t.Fatalf("%+v, %v", r, err)
	}
}

// TestGrowWrong: what a step has made does not fit the pipeline, which is an error of the
// steps that await it alone.
func TestGrowWrong(t *testing.T) {
	b := newBench(t)
	src := strings.Replace(pieces(`"other" = "C"`), "hold = true", "", 1)
	_, err := b.wait(b.start(src, "1"))
	testkit.ErrSays(t, err, "There is no piece", "t.hcl:8")
	testkit.Says(t, b.ended("1"), "piece[*] failed, slow ran, split ran")
	// A file that is named and not there is an error of the step that names it.
	lacks := strings.Replace(src, `"other"`, `"p/z"`, 1)
	_, err = b.wait(b.start(lacks, "2"))
	testkit.ErrSays(t, err, `step.tree.split.out has no file or folder "other"; it has p/z`)
	testkit.Says(t, b.ended("2"), `named["y"] ran, other failed, piece["z"] ran, slow hit, split ran`)
	// With a repaired step it is as if nothing had been wrong.
	if r, err := b.wait(b.start(strings.Replace(src, `"other" = "C"`, `"other" = "C", "p/z" = "Z"`, 1), "3")); err != nil || r.Hit < 1 {
		t.Fatalf("%+v, %v", r, err)
	}
}

// TestGrowOften: many steps whose when awaits a step each do not cost a plan each, and all
// of them are decided.
func TestGrowOften(t *testing.T) {
	b := newBench(t)
	w := b.start(`
step "tree" "check" {
  for_each = toset([for i in range(60) : format("%02d", i)])
  files    = { "r.json" = jsonencode({ key = each.key, odd = tonumber(each.key) % 2 == 1 }) }
}
step "short" "odd" {
  for_each = step.tree.check
  when     = json(each.value.out, "r.json:odd")
  text     = "odd ${each.key}"
}
step "short" "all" {
  text  = "all"
  after = step.short.odd[*].out
}
`, "1")
	b.ends(w, 60+30+1)
	if grown := b.scheduled(w)[workflows.GrowActivity]; grown == 0 || grown > 20 {
		t.Errorf("the plan was made %d times", grown)
	}
}

// leaveOut are pieces of which those that fail are left out: each is read by another block's, which are left out with it, and by
// what gathers them. one reads one of them alone.
func leaveOut(atLeast string) string {
	return `
step "text" "piece" {
  for_each   = toset(["a", "b", "c", "d"])
  on_failure = "leave_out"
  at_least   = ` + atLeast + `
  text       = "piece ${each.key} "
}
step "short" "next" {
  for_each   = toset(["a", "b", "c", "d"])
  on_failure = "leave_out"
  at_least   = ` + atLeast + `
  text       = "next ${each.key} "
  after      = [step.text.piece[each.key].out]
}
step "short" "one" {
  text  = "one "
  after = step.text.piece["b"].out
}
step "short" "gather" {
  text  = "all"
  after = step.short.next[*].out
}
step "short" "last" {
  text  = "last"
  after = step.short.gather.out
}
step "tree" "verdict" {
  files = { "r.json" = jsonencode(["x"]) }
  after = step.short.next[*].out
}
step "short" "named" {
  for_each = toset(json(step.tree.verdict.out, "r.json:"))
  text     = "named ${each.key}"
}
`
}

// TestLeaveOut: what gathers pieces goes on without one that fails, also where it decides which steps there are; the run fails; another
// run with the same pieces finds what was gathered; one in which all succeed gathers anew.
func TestLeaveOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fails("piece b ", "it fails\nfurther down")
	src := leaveOut("0.75")
	w := b.start(src, "1")
	_, err := b.wait(w)
	testkit.ErrSays(t, err, "1 of 13 steps failed, 2 skipped:", "step.short.gather is incomplete: it is without 1 of the steps that it gathers", `step.text.piece["b"]: it fails`)
	const first = `gather ran, last ran, named["x"] ran, next["a"] ran, next["b"] skipped, next["c"] ran, next["d"] ran, one skipped, piece["a"] ran, piece["b"] failed, piece["c"] ran, piece["d"] ran, verdict ran`
	testkit.Is(t, b.ended("1"), first)
	b.keep("left-out", w.GetID(), "")
	gathered := func(id string) (key artifacts.Digest, text, lacks string) {
		for _, s := range b.record(id).Steps {
			if s.Address == "step.short.gather" {
				r, err := artifacts.Lookup(context.Background(), artifacts.Alone(b.store), s.Key)
				testkit.None(t, err)
				out, err := artifacts.ReadBlob(context.Background(), b.store.Blobs, r.Outputs["out"].Digest, artifacts.AnySize)
				testkit.None(t, err)
				key, text, lacks = s.Key, string(out), strings.Join(s.Lacks, " ")
			}
		}
		return key, text, lacks
	}
	key, text, lacks := gathered("1")
	if want := "piece a next a piece c next c piece d next d all"; text != want || lacks != `step.short.next["b"]` {
		t.Errorf("gathered %q, without %q", text, lacks)
	}

	// The same piece fails again: what was gathered without it is there.
	if _, err = b.wait(b.start(src, "2")); err == nil || b.record("2").Counts[runs.Hit] != 10 || b.record("2").Counts[runs.Ran] != 0 {
		t.Errorf("the second time: %v, %v", b.record("2").Counts, err)
	}
	if k, _, lacks := gathered("2"); k != key || lacks == "" {
		t.Errorf("gathered under %s and %s, without %q", key, k, lacks)
	}

	// It succeeds: all is gathered, and no step lacks any.
	b.fail.Store(nil)
	if hit, ran := b.run(src, "3"); hit != 7 || ran != 6 {
		t.Errorf("%d hit, %d ran", hit, ran)
	}
	if k, text, lacks := gathered("3"); k == key || lacks != "" || text != "piece a next a piece b next b piece c next c piece d next d all" {
		t.Errorf("gathered %q, without %q", text, lacks)
	}
}

// TestLeaveOutTooMany: with fewer than at_least what gathers is skipped, and says how many it needs.
func TestLeaveOutTooMany(t *testing.T) {
	b := newBench(t)
	b.fails("piece b ", "it fails")
	_, err := b.wait(b.start(leaveOut("4"), "1"))
	testkit.ErrSays(t, err, "1 of 13 steps failed")
	for _, s := range b.record("1").Steps {
		if s.Address == "step.short.gather" && (s.Outcome != runs.Skipped || s.Error != "needs 4 of 4 of step.short.next: 1 failed, or need what failed") {
			t.Errorf("%+v", s)
		}
	}
}
