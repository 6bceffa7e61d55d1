package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// leafConfig is a kind that writes its text, after looking at nothing.
type leafConfig struct {
	Text  string      `hcl:"text" help:"what to write"`
	After step.Inputs `hcl:"after,optional" help:"what it waits for"`
}

// strict refuses payloads that a server would refuse.
type strict struct {
	converter.DataConverter
	most *atomic.Int64
}

const payloadLimit = 2 << 20

func (s strict) ToPayloads(values ...any) (*commonpb.Payloads, error) {
	p, err := s.DataConverter.ToPayloads(values...)
	for _, x := range p.GetPayloads() {
		if n := int64(len(x.GetData())); n > s.most.Load() {
			s.most.Store(n)
		}
		if len(x.GetData()) > payloadLimit {
			return nil, fmt.Errorf("a payload of %d bytes", len(x.GetData()))
		}
	}
	return p, err
}

// largeRun does whole runs over a store in memory as a server would have them done,
// continue-as-new included.
type largeRun struct {
	*Activities
	t    *testing.T
	leaf step.Part[leafConfig]
	ran  atomic.Int64
	fail atomic.Bool
	most atomic.Int64      // bytes of a payload
	done func(what string) // hears of each activity that ends; may be nil

	journal func(context.Context, workflows.JournalRequest) error // by another worker
}

func newLargeRun(t *testing.T) *largeRun {
	l := &largeRun{t: t}
	l.leaf = step.DefinePart(step.Kind[leafConfig]{Name: "leaf", Version: 1, Doc: "Text.", Inline: true,
		Outputs: []step.Output{{Name: "out", Type: "text", Help: "text"}},
		Run: func(_ context.Context, x *step.IO, c leafConfig) error {
			l.ran.Add(1)
			if c.Text == "leaf 5" && l.fail.Load() {
				return step.Permanent(errors.New("line 7"))
			}
			w, err := x.Create("out")
			if err == nil {
				_, err = io.WriteString(w, c.Text)
			}
			return errors.Join(err, w.Close())
		}})
	store := mem.New()
	l.Activities = &Activities{Store: artifacts.Alone(store), Leases: lease.New(store.Leases, slog.New(slog.DiscardHandler)), Registry: step.NewRegistry(l.leaf.Spec), Log: slog.New(slog.DiscardHandler)}
	return l
}

// wide is a plan of so many leaves, a step that reads all of them, and one more.
func (l *largeRun) wide(leaves int) artifacts.Digest {
	l.t.Helper()
	p := &plan.Plan{Format: plan.Format, Pipeline: "t.hcl"}
	add := func(address string, c leafConfig, deps []int) {
		task, err := l.leaf.Task(c)
		errtest.None(l.t, err)
		p.Steps = append(p.Steps, plan.Step{Address: address, Task: task, Deps: deps, Inline: true})
	}
	join := leafConfig{Text: "join"}
	var deps []int
	for i := range leaves {
		address := fmt.Sprintf("step.leaf.many[%q]", fmt.Sprint(i))
		add(address, leafConfig{Text: fmt.Sprintf("leaf %d", i)}, nil)
		join.After = append(join.After, step.Input{Ref: &step.Ref{Step: address, Output: "out"}})
		deps = append(deps, i)
	}
	add("step.leaf.join", join, deps)
	add("step.leaf.after", leafConfig{Text: "after", After: step.Inputs{{Ref: &step.Ref{Step: "step.leaf.join", Output: "out"}}}}, []int{leaves})
	d, err := plan.Store(context.Background(), l.Store.Own.Blobs, p)
	errtest.None(l.t, err)
	return d
}

// run does a run and returns how many executions it took.
func (l *largeRun) run(id string, d artifacts.Digest) (res workflows.ReproduceResult, executions int, err error) {
	l.t.Helper()
	return l.runOf(workflows.ReproduceInput{Pipeline: "t.hcl", Plan: &d, RunID: id})
}

func (l *largeRun) runOf(in workflows.ReproduceInput) (res workflows.ReproduceResult, executions int, err error) {
	l.t.Helper()
	for {
		executions++
		var suite testsuite.WorkflowTestSuite
		suite.SetLogger(quiet)
		env := suite.NewTestWorkflowEnvironment()
		env.SetTestTimeout(5 * time.Minute)
		env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // as worker has it
		env.SetDataConverter(strict{converter.GetDefaultDataConverter(), &l.most})
		env.RegisterWorkflowWithOptions(workflows.Reproduce, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
		env.RegisterWorkflowWithOptions(workflows.Step, workflow.RegisterOptions{Name: workflows.StepWorkflow})
		named := l.Named()
		if l.journal != nil {
			named[workflows.JournalActivity] = l.journal
		}
		for name, f := range named {
			env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
		}
		// A hundred times what the server counts, three events an activity and three a workflow task.
		events := 0
		env.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
			if l.done != nil {
				l.done(info.ActivityType.Name)
			}
			events += 600
			env.SetCurrentHistoryLength(events)
			env.SetContinueAsNewSuggested(events > 4096)
		})
		env.ExecuteWorkflow(workflows.ReproduceWorkflow, in)
		if !env.IsWorkflowCompleted() {
			l.t.Fatal("the run did not end")
		}
		var continued *workflow.ContinueAsNewError
		if err = env.GetWorkflowError(); errors.As(err, &continued) {
			in = workflows.ReproduceInput{}
			errtest.None(l.t, converter.GetDefaultDataConverter().FromPayloads(continued.Input, &in))
			continue
		}
		if err == nil {
			err = env.GetWorkflowResult(&res)
		}
		return res, executions, err
	}
}

var quiet = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

// TestManySteps: a run of 13,000 steps with one that fails, and the run that mends
// it, with a step of 13,000 inputs. Nothing is too large for a payload or a
// record, every step ends in one of five ways, and nothing is garbage afterwards.
func TestManySteps(t *testing.T) {
	if testing.Short() {
		t.Skip("only its size is special: make race leaves it to make test")
	}
	const leaves = 13_000 // more than what is in flight
	l := newLargeRun(t)
	d := l.wide(leaves)

	l.fail.Store(true)
	_, executions, err := l.run("1", d)
	var app *temporal.ApplicationError
	var res workflows.ReproduceResult
	if !errors.As(err, &app) || app.Type() != workflows.FailedRun || app.Details(&res) != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d of %d steps failed, 2 skipped:\nstep.leaf.many[\"5\"]: line 7", 1, leaves+2); app.Message() != want {
		t.Errorf("the run says %q, want %q", app.Message(), want)
	}
	if res.Ran != leaves-1 || res.Failed != 1 || res.Skipped != 2 || res.Hit+res.NotStarted != 0 {
		t.Errorf("%+v", res)
	}
	if executions < 2 || l.ran.Load() != leaves {
		t.Errorf("%d executions ran %d steps", executions, l.ran.Load())
	}
	l.free()

	l.fail.Store(false)
	res, executions, err = l.run("2", d)
	if err != nil || res.Hit != leaves-1 || res.Ran != 3 {
		t.Fatalf("%+v in %d executions, %v", res, executions, err)
	}
	if res, _, err = l.run("3", d); err != nil || res.Hit != leaves+2 {
		t.Fatalf("%+v, %v", res, err)
	}
	l.free()
	t.Logf("largest payload: %d bytes", l.most.Load())

	rec, err := runs.Read(t.Context(), l.Store.Own, "1")
	if err != nil || len(rec.Steps) != leaves+2 || rec.Body == nil {
		t.Fatal(len(rec.Steps), err)
	}
	if s := rec.Steps[leaves]; s.Outcome != runs.Skipped || s.Error != `needs step.leaf.many["5"], which failed` {
		t.Errorf("%+v", s)
	}
}

// free fails if garbage collection has anything to take.
func (l *largeRun) free() {
	l.t.Helper()
	g, err := artifacts.Collect(l.t.Context(), l.Store.Own, artifacts.GCOptions{Grace: 1, DryRun: true, Now: time.Now().Add(time.Hour)})
	if err != nil || len(g.Results) > 0 || len(g.Open) > 0 {
		l.t.Fatalf("garbage collection would take %d results; open runs: %v; %v", len(g.Results), g.Open, err)
	}
}

// full takes no run records.
var full = storetest.Before(func(_ context.Context, c *storetest.Call) error {
	if c.Method == storetest.RecordsPut && strings.HasPrefix(c.Name, artifacts.RunsPrefix) {
		return &artifacts.RefusedError{Err: errors.New("the quota is full")}
	}
	return nil
})

// TestRunWithoutRecord fails, although all of its steps ran, and what it did is
// kept until a run records it.
func TestRunWithoutRecord(t *testing.T) {
	l := newLargeRun(t)
	d := l.wide(3)
	store := l.Store
	l.Store = artifacts.Alone(storetest.Hooked(store.Own, full))
	if _, _, err := l.run("1", d); err == nil || !strings.Contains(err.Error(), "the record of run 1 could not be written") ||
		!strings.Contains(err.Error(), "the quota is full") {
		t.Fatalf("the run says %v", err)
	}
	l.Store = store
	gc := func() artifacts.Garbage {
		g, err := artifacts.Collect(t.Context(), l.Store.Own, artifacts.GCOptions{Grace: 1, DryRun: true, Now: time.Now().Add(time.Hour)})
		errtest.None(t, err)
		return g
	}
	if g := gc(); len(g.Results) > 0 || len(g.Open) != 1 {
		t.Fatalf("it would take %d results; open: %v", len(g.Results), g.Open)
	}
	// The next `redsi run` finds all done and starts no workflow.
	p, err := l.storedPlan(t.Context(), d)
	errtest.None(t, err)
	v, err := p.Follow(t.Context(), l.Registry, l.lookup, plan.KeepAll, nil)
	if err != nil || !v.Done() {
		t.Fatal(v, err)
	}
	rec := runs.Record{RunID: "2", Pipeline: p.Pipeline}
	for i, it := range v.Items {
		rec.Steps = append(rec.Steps, runs.Step{Address: p.Steps[i].Address, Key: it.Key, Outcome: runs.Hit})
	}
	errtest.None(t, runs.WriteHits(t.Context(), l.Store.Own, rec, func() (artifacts.Digest, error) { return d, nil }))
	if g := gc(); len(g.Results) > 0 || len(g.Open) != 0 {
		t.Fatalf("it would take %d results; open: %v", len(g.Results), g.Open)
	}
	errtest.None(t, runs.WriteHits(t.Context(), l.Store.Own, rec, func() (artifacts.Digest, error) { return d, nil }))
	if names, err := artifacts.RecordNames(t.Context(), l.Store.Own.Records, artifacts.RunsPrefix); err != nil || len(names) != 1 {
		t.Errorf("records %v, %v: nothing was open", names, err)
	}
}

// TestRunThatCannotBegin leaves nothing that garbage collection would wait for.
func TestRunThatCannotBegin(t *testing.T) {
	l := newLargeRun(t)
	d := l.wide(2)
	l.Registry = step.NewRegistry()
	if _, _, err := l.run("1", d); err == nil || !strings.Contains(err.Error(), "this worker has no kind") {
		t.Fatal(err)
	}
	if open, err := runs.AllOpen(t.Context(), l.Store.Own); err != nil || len(open) > 0 {
		t.Errorf("open: %v, %v", open, err)
	}
}

func (l *largeRun) lookup(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
	return artifacts.LookupMany(ctx, l.Store, keys)
}

// results are those of a plan's steps, in its order; nil: there is none.
func (l *largeRun) results(d artifacts.Digest) []*artifacts.Result {
	l.t.Helper()
	p, err := l.storedPlan(l.t.Context(), d)
	errtest.None(l.t, err)
	v, err := p.Follow(l.t.Context(), l.Registry, l.lookup, plan.KeepAll, nil)
	errtest.None(l.t, err)
	out := make([]*artifacts.Result, len(v.Items))
	for i, it := range v.Items {
		out[i] = it.Result
	}
	return out
}

// lose deletes the bytes of a result or, of every second one, its record.
func (l *largeRun) lose(i int, r *artifacts.Result) {
	l.t.Helper()
	err := l.Store.Own.Blobs.Delete(context.Background(), r.Outputs["out"].Digest)
	if i%2 > 0 {
		err = l.Store.Own.Records.Delete(context.Background(), artifacts.ResultName(r.Key))
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// TestLostInBulk: inputs of a step that are lost after the run has found them are made again,
// those alone, once each.
func TestLostInBulk(t *testing.T) {
	const leaves = 1000
	l := newLargeRun(t)
	d := l.wide(leaves)
	if res, _, err := l.run("1", d); err != nil || res.Ran != leaves+2 {
		t.Fatalf("%+v, %v", res, err)
	}
	digests := map[string]bool{}
	for _, r := range l.results(d) {
		digests[r.Outputs["out"].Digest.Hex()] = true
	}
	for n, lost := range []int{1, leaves - 7} {
		found := l.results(d)
		for i, r := range found[leaves:] { // so that the run needs the leaves
			l.lose(i, r)
		}
		l.done = func(what string) {
			if what != workflows.LoadActivity {
				return
			}
			for i, r := range found[:lost] {
				l.lose(i, r)
			}
			l.done = nil
		}
		before := l.ran.Load()
		res, executions, err := l.run(fmt.Sprint("lost ", n), d)
		if err != nil || res.Ran != lost+2 || res.Hit != leaves-lost || l.ran.Load()-before != int64(lost+2) {
			t.Fatalf("%d inputs lost: %+v in %d executions, %d ran: %v", lost, res, executions, l.ran.Load()-before, err)
		}
		for _, r := range l.results(d) {
			if r == nil || !digests[r.Outputs["out"].Digest.Hex()] {
				t.Fatalf("%d inputs lost: a step has another result: %+v", lost, r)
			}
		}
	}
	if l.most.Load() > payloadLimit/2 {
		t.Errorf("largest payload: %d bytes", l.most.Load())
	}
}

// ailing makes a method of a store fail in the first attempts of an activity.
type ailing struct {
	activity string
	method   storetest.Method
	attempts int32
	failed   atomic.Int64
}

var errAway = errors.New("503 Slow Down")

func (a *ailing) err(ctx context.Context, c *storetest.Call) error {
	if !activity.IsActivity(ctx) || c.Method != a.method {
		return nil
	}
	if info := activity.GetInfo(ctx); info.ActivityType.Name != a.activity || info.Attempt > a.attempts {
		return nil
	}
	a.failed.Add(1)
	return errAway
}

// TestStoreAwayInPrepare: while a run looks steps up, or finds out what there is, its
// store answers with errors for a while: it is asked again, nothing runs twice, and the
// run goes on. A store that stays away ends the run with its words, and what was done
// is there for the next one.
func TestStoreAwayInPrepare(t *testing.T) {
	const leaves = 20
	for _, c := range []struct {
		activity string
		method   storetest.Method
	}{
		{workflows.PrepareActivity, storetest.BlobsMissing}, {workflows.PrepareActivity, storetest.RecordsGet},
		{workflows.LoadActivity, storetest.BlobsOpen}, {workflows.LoadActivity, storetest.RecordsGet},
	} {
		for _, attempts := range []int32{errorTries - 1, errorTries} {
			what := fmt.Sprintf("%s, %s, %d attempts", c.activity, c.method, attempts)
			l := newLargeRun(t)
			d := l.wide(leaves)
			store := l.Store
			away := &ailing{activity: c.activity, method: c.method, attempts: attempts}
			l.Store = artifacts.Alone(storetest.Hooked(store.Own, storetest.Before(away.err)))
			res, _, err := l.run("1", d)
			if away.failed.Load() < int64(attempts) {
				t.Errorf("%s: it failed %d times", what, away.failed.Load())
			}
			if attempts < errorTries {
				if err != nil || res.Ran != leaves+2 || l.ran.Load() != leaves+2 {
					t.Errorf("%s: %+v, %d ran: %v", what, res, l.ran.Load(), err)
				}
				continue
			}
			errtest.Says(t, err, errAway.Error(), "tried 10 times")
			l.Store = store
			if res, _, err := l.run("2", d); err != nil || res.Hit+res.Ran != leaves+2 || l.ran.Load() != leaves+2 {
				t.Errorf("%s, and then again: %+v, %d ran: %v", what, res, l.ran.Load(), err)
			}
		}
	}
}

// A plan is previewed once: a run that is told what was found done looks nothing up to
// load it, and its journal is what the client then reads.
func TestLoadTakesHits(t *testing.T) {
	const leaves = 300
	l := newLargeRun(t)
	d := l.wide(leaves)
	if _, _, err := l.run("1", d); err != nil {
		t.Fatal(err)
	}
	p, err := plan.Read(t.Context(), l.Store, d)
	errtest.None(t, err)
	looks := 0
	v, err := p.Follow(t.Context(), l.Registry, l.lookup, func(int, *plan.Item) bool { looks++; return false }, nil)
	if err != nil || looks != leaves+2 || !v.Done() {
		t.Fatalf("%d of %d steps were found: %v", looks, leaves+2, err)
	}
	hits, err := PagesOf(t.Context(), l.Store.Own.Blobs, HitsOf(v))
	errtest.None(t, err)
	store, counted := storetest.Faulty(l.Store.Own)
	l.Store = artifacts.Alone(store)
	read := func(hits *workflows.Pages[workflows.DoneStep]) int {
		before := counted.Calls(storetest.RecordsGet)
		out, err := l.Load(t.Context(), workflows.LoadRequest{Pipeline: "t.hcl", Plan: &d, Hits: hits})
		errtest.None(t, err)
		calls := counted.Calls(storetest.RecordsGet) - before
		if hits, err := rowsOf(t.Context(), l.Activities, out.Hits); err != nil || len(hits) != leaves+2 {
			t.Fatalf("%d hits: %v", len(hits), err)
		}
		return calls
	}
	if once, again := read(&hits), read(nil); again < leaves+2 || again-once != leaves+2 {
		t.Errorf("%d records are read with hits, %d without", once, again)
	}
	wrong, err := PagesOf(t.Context(), l.Store.Own.Blobs, []workflows.DoneStep{{Index: leaves + 2, Hit: true}})
	errtest.None(t, err)
	if _, err := l.Load(t.Context(), workflows.LoadRequest{Plan: &d, Hits: &wrong}); err == nil {
		t.Error("a hit of no step is taken")
	}
}

// TestPlansInMemory: a plan that many ask for at once is read once; one that is kept is there while
// another is read; and what plans take is bounded.
func TestPlansInMemory(t *testing.T) {
	l := newLargeRun(t)
	d, other := l.wide(3), l.wide(1)
	var opened, meanwhile atomic.Int32
	l.Store = artifacts.Alone(storetest.Hooked(l.Store.Own, func(ctx context.Context, c *storetest.Call, next func() error) error {
		if c.Method == storetest.BlobsOpen && c.Digest == d {
			opened.Add(1)
		}
		if c.Method == storetest.BlobsOpen && c.Digest == other {
			meanwhile.Add(1)
			if _, err := l.storedPlan(ctx, d); err != nil {
				t.Error(err)
			}
		}
		return next()
	}))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := l.storedPlan(t.Context(), d); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := opened.Load(); n != 1 {
		t.Errorf("the plan was read %d times", n)
	}
	if _, err := l.storedPlan(t.Context(), other); err != nil || meanwhile.Load() != 1 {
		t.Error(meanwhile.Load(), err)
	}
	big := &plan.Plan{Steps: []plan.Step{{Task: step.Task{Config: make([]byte, plansKept/3)}}}}
	for i := range 10 {
		if l.keep(artifacts.Sum([]byte{byte(i)}), big); len(l.plans) > 4 { // two of them small
			t.Fatalf("%d plans are kept", len(l.plans))
		}
	}
}

// TestManyLongErrors: the errors of all steps of an answer fit a payload.
func TestManyLongErrors(t *testing.T) {
	l := newLargeRun(t)
	p, err := l.storedPlan(t.Context(), l.wide(1))
	errtest.None(t, err)
	wide := *p
	wide.Steps = p.Steps[:1:1]
	task, err := l.leaf.Task(leafConfig{Text: "x", After: step.Inputs{{Ref: &step.Ref{Step: p.Steps[0].Address, Output: strings.Repeat("long", 500)}}}})
	errtest.None(t, err)
	req := workflows.PrepareRequest{RunID: "1", Steps: []workflows.Ready{{Index: 0}}}
	for i := range 1112 {
		wide.Steps = append(wide.Steps, plan.Step{Address: fmt.Sprint("step.leaf.b", i), Task: task, Deps: []int{0}})
		req.Steps = append(req.Steps, workflows.Ready{Index: i + 1})
	}
	if req.Plan, err = plan.Store(t.Context(), l.Store.Own.Blobs, p); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.run("1", req.Plan); err != nil {
		t.Fatal(err)
	}
	if req.Plan, err = plan.Store(t.Context(), l.Store.Own.Blobs, &wide); err != nil {
		t.Fatal(err)
	}
	if req.Keys, err = workflows.PagesOf([]workflows.DoneStep{{Index: 0}}, nil); err != nil {
		t.Fatal(err)
	}
	out, err := l.Prepare(t.Context(), req)
	b, merr := json.Marshal(out)
	if err != nil || merr != nil || !strings.Contains(out[1].Error, "has no output") || len(b) > payloadLimit/2 {
		t.Errorf("%d bytes, %.100q, %v, %v", len(b), out[1].Error, err, merr)
	}
}

// TestAccepts: a workflow names pipeline files only in folders that were given.
func TestAccepts(t *testing.T) {
	top := t.TempDir()
	inside, outside := filepath.Join(top, "in"), filepath.Join(top, "inside-not")
	for _, d := range []string{filepath.Join(inside, "sub"), outside} {
		filetest.Write(t, filepath.Join(d, "p.hcl"), "")
	}
	for link, to := range map[string]string{"out.hcl": filepath.Join(outside, "p.hcl"), "folder": outside} {
		errtest.None(t, os.Symlink(to, filepath.Join(inside, link)))
	}
	for file, want := range map[string]bool{"sub/p.hcl": true, "sub": true, ".": true, "none.hcl": true,
		"out.hcl": false, "folder/p.hcl": false, "../inside-not/p.hcl": false, "..": false, "sub/../../inside-not/p.hcl": false} {
		err := (&Activities{Accept: []string{inside}}).Accepts(filepath.Join(inside, file))
		if (err == nil) != want {
			t.Errorf("%s: %v", file, err)
		}
		if err != nil && (!step.IsPermanent(err) || !strings.Contains(err.Error(), "--accept-pipelines")) {
			t.Errorf("%s: the refusal says %v", file, err)
		}
	}
	if err := new(Activities).Accepts(filepath.Join(inside, "sub", "p.hcl")); err == nil {
		t.Error("a worker that was given no folder accepts a file")
	}
}

// TestJournalPinsOnAnyWorker: the lock file is named by the run, not remembered by
// the worker that loaded it, and is written in accepted folders only.
func TestJournalPinsOnAnyWorker(t *testing.T) {
	folder := t.TempDir()
	lock := filepath.Join(folder, lockfile.Name)
	pin := step.Pin{Source: "https://example.org/a", SHA256: artifacts.Sum([]byte("a")), Size: 1}
	page, _, err := workflows.Pack([]step.Pin{pin})
	errtest.None(t, err)
	req := workflows.JournalRequest{Run: runs.Record{RunID: "1", Plan: artifacts.Sum(nil)}, Pins: workflows.Pages[step.Pin]{Page: page}, Lock: lock}
	a := &Activities{Store: artifacts.Alone(mem.New()), Log: slog.New(slog.DiscardHandler)}
	errtest.None(t, a.Journal(t.Context(), req))
	if _, err := os.Stat(lock); err == nil {
		t.Fatal("a worker wrote into a folder that it was not given")
	}
	a.Accept = []string{folder}
	errtest.None(t, a.Journal(t.Context(), req))
	if f, err := lockfile.Read(lock); err != nil || len(f.Sources) != 1 || f.Sources[0] != pin {
		t.Errorf("%+v, %v", f, err)
	}
	req.Lock = filepath.Join(folder, "authorized_keys")
	errtest.None(t, a.Journal(t.Context(), req))
	if _, err := os.Stat(req.Lock); err == nil {
		t.Error("it wrote a file of another name")
	}
}

// checkedPlan is a plan of one step whose output a check reads.
func (l *largeRun) checkedPlan(text string) (*plan.Plan, artifacts.Digest) {
	l.t.Helper()
	task, err := l.leaf.Task(leafConfig{Text: text})
	errtest.None(l.t, err)
	task.Checks = []step.Check{{Name: "a", Field: "out:a", Min: &step.Limit{}}}
	p := &plan.Plan{Format: plan.Format, Pipeline: "t.hcl", Steps: []plan.Step{{Address: "step.leaf.a", Task: task, Inline: true}}}
	d, err := plan.Store(l.t.Context(), l.Store.Own.Blobs, p)
	errtest.None(l.t, err)
	return p, d
}

// TestCheckOnAilingStore: what a check could not read says nothing about the step. The store is
// asked again, and bytes that it has lost are made again.
func TestCheckOnAilingStore(t *testing.T) {
	l := newLargeRun(t)
	p, d := l.checkedPlan(`{"a": 1}`)
	if res, _, err := l.run("1", d); err != nil {
		t.Fatal(res, err)
	}
	req := workflows.PrepareRequest{Plan: d, RunID: "2", Steps: []workflows.Ready{{Index: 0}}}
	healthy := l.Store
	for what, ask := range map[string]func() error{
		"Prepare": func() error { _, err := l.Prepare(t.Context(), req); return err },
		"Load":    func() error { _, _, err := l.hits(t.Context(), p, "", false); return err },
	} {
		faulty, faults := storetest.Faulty(healthy.Own)
		l.Store = artifacts.Alone(faulty)
		faults.Add(storetest.BlobsOpen, storetest.Fault{Err: errAway})
		if err := ask(); err == nil || step.IsPermanent(err) {
			t.Errorf("%s: %v, permanent %v", what, err, step.IsPermanent(err))
		}
	}
	out := artifacts.Sum([]byte(`{"a": 1}`))
	l.Store = artifacts.Alone(storetest.Hooked(healthy.Own, func(_ context.Context, c *storetest.Call, next func() error) error {
		if c.Method == storetest.BlobsOpen && c.Digest == out && l.ran.Load() == 1 {
			return &artifacts.IntegrityError{Want: out, Where: "the store", Got: artifacts.Sum(nil)}
		}
		return next()
	}))
	if v, err := l.follow(t.Context(), p, "", nil, func(int, *plan.Item) bool { return false }); err != nil || v.Items[0].Outcome != plan.Run || v.Items[0].Key.IsZero() {
		t.Errorf("%+v, %v", v, err)
	}
	if res, _, err := l.run("3", d); err != nil || res.Ran != 1 || l.ran.Load() != 2 {
		t.Errorf("%+v, %d ran: %v", res, l.ran.Load(), err)
	}
}

// TestCheckOfAnUnreadableOutput: an output that a check cannot read fails the step and no plan.
func TestCheckOfAnUnreadableOutput(t *testing.T) {
	l := newLargeRun(t)
	p, d := l.checkedPlan("epoch 1")
	if _, _, err := l.run("1", d); err == nil || !strings.Contains(err.Error(), `check "a" fails: the output is not JSON`) || l.ran.Load() != 1 {
		t.Errorf("%d ran: %v", l.ran.Load(), err)
	}
	v, err := l.follow(t.Context(), p, "", nil, func(int, *plan.Item) bool { return false })
	if err != nil || v.Items[0].Outcome != plan.Hit || len(v.Items[0].Snags().Fails) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

// sourceConfig is a kind that finds out the checksum of what it writes.
type sourceConfig struct {
	URL    string `hcl:"url" help:"what to write"`
	SHA256 string `hcl:"sha256,optional" help:"of it"`
}

// sourceKind is that kind; ran hears of each run.
func sourceKind(ran func()) step.Part[sourceConfig] {
	return step.DefinePart(step.Kind[sourceConfig]{Name: "source", Version: 1, Doc: "Text.", Inline: true,
		Outputs: []step.Output{{Name: "out", Type: "text", Help: "text"}},
		Run: func(_ context.Context, x *step.IO, c sourceConfig) error {
			ran()
			w, err := x.Create("out")
			if err == nil {
				_, err = io.WriteString(w, c.URL)
			}
			return errors.Join(err, w.Close())
		},
		Resolve: func(_ context.Context, env step.Sources, c sourceConfig) (sourceConfig, error) {
			if p, ok := env.Pinned(c.URL); ok {
				c.SHA256 = p.SHA256.Hex()
			}
			return c, nil
		},
		Pins: func(c sourceConfig, outputs map[string]artifacts.Artifact) []step.Pin {
			return []step.Pin{{Source: c.URL, SHA256: outputs["out"].Digest, Size: outputs["out"].Size}}
		},
	})
}

// A result that was accepted for the key of a task is filed under no other key, where nothing
// could use it.
func TestPinnedAccepted(t *testing.T) {
	kind := sourceKind(func() {})
	a := &Activities{Store: artifacts.Alone(mem.New()), Registry: step.NewRegistry(kind.Spec)}
	d := storetest.Put(t, a.Store.Own, []byte("out"))
	of := artifacts.Result{Preimage: []byte(`{"format":"redsi-key/1","kind":"source"}`), Outputs: map[string]artifacts.Artifact{"out": {Type: "text", Digest: d, Size: 3}}}
	of.Key = artifacts.KeyOf(of.Preimage)
	task, err := kind.Task(sourceConfig{URL: "https://example.org/x"})
	errtest.None(t, err)
	key, preimage, err := a.Registry.Key(task)
	errtest.None(t, err)
	said, err := artifacts.NewAcceptance(artifacts.Acceptance{Key: key, Of: of.Key, Outputs: of.OutputsDigest(), Reason: "r", By: "alice"}, nil)
	if err == nil {
		err = artifacts.Accept(t.Context(), a.Store, &of, preimage, said)
	}
	hit, lerr := artifacts.Lookup(t.Context(), a.Store, key)
	if err = errors.Join(err, lerr); err != nil || hit == nil {
		t.Fatal(hit, err)
	}
	under, pins, err := a.filePinned(t.Context(), &kind.Spec, task, *hit)
	if err != nil || len(pins) != 1 {
		t.Fatal(pins, err)
	}
	if got, err := artifacts.Lookup(t.Context(), a.Store, under); err != nil || got == nil {
		t.Errorf("it is filed where it is no hit: %v", err)
	}
	if keys, err := artifacts.ResultKeys(t.Context(), a.Store.Own.Records); err != nil || len(keys) != 1 {
		t.Errorf("%d results, %v", len(keys), err)
	}
}

// What sources were found to be is state of the run: what its first execution found is in
// the lock file at the end, whichever worker loads the plan again or writes the record.
func TestPinsOverContinueAsNew(t *testing.T) {
	const sources = 1500
	l := newLargeRun(t)
	source := sourceKind(func() { l.ran.Add(1) })
	l.Registry = step.NewRegistry(source.Spec)
	p := &plan.Plan{Format: plan.Format, Pipeline: "p.hcl"}
	for i := range sources {
		url := fmt.Sprintf("https://example.org/%d", i)
		task, err := source.Task(sourceConfig{URL: url})
		errtest.None(t, err)
		p.Steps = append(p.Steps, plan.Step{Address: fmt.Sprintf("step.source.x[%q]", url), Task: task, Inline: true})
	}
	folder := t.TempDir()
	lock := filepath.Join(folder, lockfile.Name)
	l.Accept = []string{folder}
	l.Open = func(context.Context, string, map[string]string, []string) (*plan.Plan, string, error) {
		return p, lock, nil
	}
	// A worker that has neither been asked to load the plan nor done any of it.
	l.journal = (&Activities{Store: l.Store, Registry: l.Registry, Log: l.Log, Accept: l.Accept}).Journal

	res, executions, err := l.runOf(workflows.ReproduceInput{Pipeline: filepath.Join(folder, "p.hcl"), RunID: "1"})
	if err != nil || res.Ran != sources || l.ran.Load() != sources || executions < 2 {
		t.Fatalf("%+v in %d executions, %d ran: %v", res, executions, l.ran.Load(), err)
	}
	f, err := lockfile.Read(lock)
	if err != nil || len(f.Sources) != sources {
		t.Fatalf("%d of %d sources are pinned after %d executions: %v", len(f.Sources), sources, executions, err)
	}
	for _, s := range f.Sources {
		if s.SHA256 != artifacts.Sum([]byte(s.Source)) {
			t.Fatalf("%+v is not what was found", s)
		}
	}

	// A run that finds the results of another, or its own under another id, pins them too.
	lock = filepath.Join(folder, "elsewhere", lockfile.Name)
	errtest.None(t, os.Mkdir(filepath.Dir(lock), 0o755))
	if res, _, err = l.runOf(workflows.ReproduceInput{Pipeline: filepath.Join(folder, "p.hcl"), RunID: "2"}); err != nil || res.Hit != sources {
		t.Fatalf("%+v: %v", res, err)
	}
	if f, err = lockfile.Read(lock); err != nil || len(f.Sources) != sources {
		t.Errorf("%d of %d sources of hits are pinned: %v", len(f.Sources), sources, err)
	}
}
