package worker_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/workflows"
)

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
	if got := b.ended("1"); got != first {
		t.Errorf("got  %s\nwant %s", got, first)
	}
	b.keep("grown", w.GetID(), "")

	// One piece is another one: it alone runs, and what gathers them.
	w = b.start(pieces(`"p/a" = "A", "p/b" = "BB", "other" = "D"`), "2")
	if r, err = b.wait(w); err != nil || r.Ran != 6 {
		t.Fatalf("%+v, %v", r, err)
	}
	const second = `gather ran, good hit, more["1"] ran, named["x"] hit, named["y"] hit, other ran, piece["a"] hit, piece["b"] ran, slow hit, split ran, verdict ran`
	if got := b.ended("2"); got != second {
		t.Errorf("got  %s\nwant %s", got, second)
	}

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
	if err == nil || !strings.Contains(err.Error(), "There is no piece") || !strings.Contains(err.Error(), "t.hcl:8") {
		t.Fatal(err)
	}
	if got := b.ended("1"); !strings.Contains(got, "piece[*] failed, slow ran, split ran") {
		t.Error(got)
	}
	// A file that is named and not there is an error of the step that names it.
	lacks := strings.Replace(src, `"other"`, `"p/z"`, 1)
	_, err = b.wait(b.start(lacks, "2"))
	if err == nil || !strings.Contains(err.Error(), `step.tree.split.out has no file or folder "other"; it has p/z`) {
		t.Fatal(err)
	}
	if got := b.ended("2"); !strings.Contains(got, `named["y"] ran, other failed, piece["z"] ran, slow hit, split ran`) {
		t.Error(got)
	}
	// With a repaired step it is as if nothing had been wrong.
	if r, err := b.wait(b.start(strings.Replace(src, `"other" = "C"`, `"other" = "C", "p/z" = "Z"`, 1), "3")); err != nil || r.Hit < 1 {
		t.Fatalf("%+v, %v", r, err)
	}
}

// TestGrowLeftOut: what a plan was made without stays out of those that grow from it.
func TestGrowLeftOut(t *testing.T) {
	b := newBench(t)
	pl, _ := b.plan(strings.Replace(pieces(`"p/a" = "A", "other" = "C"`), "hold = true", "", 1))
	rest, _ := pl.Without(nil, func(i int) bool { return pl.Steps[i].Address == "step.tree.other" })
	d, err := plan.Store(t.Context(), b.store.Blobs, rest)
	errtest.None(t, err)
	if r, err := b.wait(b.startPlan(d, "1")); err != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if got, want := b.ended("1"), `good ran, named["x"] ran, named["y"] ran, piece["a"] ran, slow ran, split ran, verdict ran`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestGrowKilled: the run that ends a killed one closes it and lets go of what only that
// one read, though its plan has grown since.
func TestGrowKilled(t *testing.T) {
	b := newBench(t)
	_, d := b.plan(hcl(temporaries("keep = false", "end", "side")) + `
step "tree" "split" { files = { "p/a" = "A" } }
step "text" "piece" {
  for_each = files(step.tree.split.out, "p/*")
  text     = "piece"
  after    = step.text.last.out
  last     = 5
}
`)
	errtest.None(t, errtest.Of(b.activities().Load(t.Context(), workflows.LoadRequest{Plan: &d, RunID: "killed"})))
	if r, err := b.wait(b.startPlan(d, "1")); err != nil || r.Released.Results != 3 || b.bytes() != 0 {
		t.Errorf("%+v, %v, %d bytes are left", r, err, b.bytes())
	}
	if open, err := artifacts.RecordNames(t.Context(), b.store.Records, artifacts.OpenRunPrefix); err != nil || len(open) > 0 {
		t.Errorf("open: %q, %v", open, err)
	}
}

// TestGrowOften: many steps whose when awaits a step each do not cost a plan each, and all
// of them are decided.
func TestGrowOften(t *testing.T) {
	b := newBench(t)
	r, err := b.wait(b.start(`
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
`, "1"))
	if err != nil || r.Ran != 60+30+1 {
		t.Fatalf("%+v, %v", r, err)
	}
	grown := 0
	for it := b.c.GetWorkflowHistory(context.Background(), t.Name()+"/1", "", false, 0); it.HasNext(); {
		e, err := it.Next()
		errtest.None(t, err)
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == workflows.GrowActivity {
			grown++
		}
	}
	if grown == 0 || grown > 20 {
		t.Errorf("the plan was made %d times", grown)
	}
}
