package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
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
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
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
		testkit.None(l.t, err)
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
	testkit.None(l.t, err)
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
			testkit.None(l.t, converter.GetDefaultDataConverter().FromPayloads(continued.Input, &in))
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
	testkit.That(t, res.Ran == leaves-1 && res.Failed == 1 && res.Skipped == 2 && res.Hit+res.NotStarted == 0, res)
	testkit.That(t, executions >= 2 && l.ran.Load() == leaves, executions, "executions ran", l.ran.Load(), "steps")
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
		testkit.None(t, err)
		return g
	}
	if g := gc(); len(g.Results) > 0 || len(g.Open) != 1 {
		t.Fatalf("it would take %d results; open: %v", len(g.Results), g.Open)
	}
	// The next `redsi run` finds all done and starts no workflow.
	p, err := l.storedPlan(t.Context(), d)
	testkit.None(t, err)
	v, err := p.Follow(t.Context(), l.Registry, l.lookup, plan.KeepAll, nil)
	if err != nil || !v.Done() {
		t.Fatal(v, err)
	}
	rec := runs.Record{RunID: "2", Pipeline: p.Pipeline}
	for i, it := range v.Items {
		rec.Steps = append(rec.Steps, runs.Step{Address: p.Steps[i].Address, Key: it.Key, Outcome: runs.Hit})
	}
	testkit.None(t, runs.WriteHits(t.Context(), l.Store.Own, rec, func() (artifacts.Digest, error) { return d, nil }))
	if g := gc(); len(g.Results) > 0 || len(g.Open) != 0 {
		t.Fatalf("it would take %d results; open: %v", len(g.Results), g.Open)
	}
	testkit.None(t, runs.WriteHits(t.Context(), l.Store.Own, rec, func() (artifacts.Digest, error) { return d, nil }))
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

// TestManyLongErrors: the errors of all steps of an answer fit a payload.
func TestManyLongErrors(t *testing.T) {
	l := newLargeRun(t)
	p, err := l.storedPlan(t.Context(), l.wide(1))
	testkit.None(t, err)
	wide := *p
	wide.Steps = p.Steps[:1:1]
	task, err := l.leaf.Task(leafConfig{Text: "x", After: step.Inputs{{Ref: &step.Ref{Step: p.Steps[0].Address, Output: strings.Repeat("long", 500)}}}})
	testkit.None(t, err)
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
