package workflows_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/workflows"
)

// workflowEnvironment is a test environment whose activities have all ended when ExecuteWorkflow returns. The SDK's
// own (v1.50.0) returns with the workflow, while an activity that the workflow cancelled goes on, and writes what the
// test reads.
type workflowEnvironment struct {
	*testsuite.TestWorkflowEnvironment
	activities *activities
}

func (e workflowEnvironment) ExecuteWorkflow(name any, in ...any) {
	e.TestWorkflowEnvironment.ExecuteWorkflow(name, in...)
	e.activities.mu.Lock()
	e.activities.closed = true
	e.activities.mu.Unlock()
	e.activities.running.Wait()
}

// activities counts the activities of an environment as they run, and lets none begin after its workflow.
type activities struct {
	interceptor.WorkerInterceptorBase
	running sync.WaitGroup
	mu      sync.Mutex
	closed  bool
}

func (a *activities) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &counted{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next}, of: a}
}

type counted struct {
	interceptor.ActivityInboundInterceptorBase
	of *activities
}

func (c *counted) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	c.of.mu.Lock()
	if c.of.closed {
		c.of.mu.Unlock()
		return nil, errors.New("the workflow has ended")
	}
	c.of.running.Add(1)
	c.of.mu.Unlock()
	defer c.of.running.Done()
	return c.Next.ExecuteActivity(ctx, in)
}

// environment is a test environment in which these activities do the work of workflows.
func environment(named map[string]any) workflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := workflowEnvironment{suite.NewTestWorkflowEnvironment(), &activities{}}
	env.SetWorkerOptions(worker.Options{
		DeadlockDetectionTimeout: time.Minute, // as worker has it
		Interceptors:             []interceptor.WorkerInterceptor{env.activities},
	})
	env.SetTestTimeout(5 * time.Minute)
	env.RegisterWorkflowWithOptions(workflows.Reproduce, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
	env.RegisterWorkflowWithOptions(workflows.Step, workflow.RegisterOptions{Name: workflows.StepWorkflow})
	for name, do := range named {
		env.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name})
	}
	return env
}

func sum(s string) artifacts.Digest { return artifacts.Sum([]byte(s)) }

// loads is a Load that finds a plan of these steps.
func loads(steps ...workflows.Head) func(context.Context, workflows.LoadRequest) (workflows.Loaded, error) {
	return func(context.Context, workflows.LoadRequest) (l workflows.Loaded, err error) {
		l.Plan, l.Name = sum("plan"), "t.hcl"
		l.Steps, err = workflows.PagesOf(steps, nil)
		return l, err
	}
}

func journals(context.Context, workflows.JournalRequest) error { return nil }

// TestForgottenStep: a run does not end well with a step that nothing came of.
func TestForgottenStep(t *testing.T) {
	env := environment(map[string]any{
		workflows.LoadActivity: loads(workflows.Head{Address: "a", Kind: "text", Inline: true}, workflows.Head{Address: "b", Kind: "text", Inline: true},
			workflows.Head{Address: "c", Kind: "text", Inline: true, Deps: []int{1}}),
		workflows.PrepareActivity: func(_ context.Context, req workflows.PrepareRequest) (out []workflows.Outcome, err error) {
			for _, s := range req.Steps {
				out = append(out, workflows.Outcome{Index: s.Index, Status: runs.Waiting, Key: sum("k")})
			}
			return out, nil
		},
		workflows.DoActivity: func(_ context.Context, req workflows.DoRequest) (out []workflows.Outcome, err error) {
			for _, s := range req.Steps {
				if s.Index == 0 { // b is never answered for
					out = append(out, workflows.Outcome{Index: s.Index, Status: runs.Ran, Key: sum("k")})
				}
			}
			return out, nil
		},
		workflows.JournalActivity: journals,
	})
	env.ExecuteWorkflow(workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "t.hcl", RunID: "r"})
	testkit.ErrSays(t, env.GetWorkflowError(), "1 of 3 steps failed, 1 skipped:\nb: its worker answered")
}

// TestLeftToOthers: a step is done by the worker that can, however often others have left it,
// which they do more often than an activity may fail; so is a part.
func TestLeftToOthers(t *testing.T) {
	n := 0
	leaves := func(x workflows.Outcome) workflows.Outcome {
		if n++; n <= 300 {
			x.NotHere = &workflows.NotHere{Why: "redsi-models is not there"}
			return x
		}
		x.Status, x.Key = runs.Ran, sum("k")
		return x
	}
	env := environment(map[string]any{
		workflows.LoadActivity: loads(workflows.Head{Address: "step.train.x", Kind: "train"}),
		workflows.PrepareActivity: func(context.Context, workflows.PrepareRequest) ([]workflows.Outcome, error) {
			return []workflows.Outcome{{Status: runs.Waiting, Key: sum("k")}}, nil
		},
		workflows.DoActivity: func(context.Context, workflows.DoRequest) ([]workflows.Outcome, error) {
			return []workflows.Outcome{leaves(workflows.Outcome{Status: runs.Waiting})}, nil
		},
		workflows.RestActivity:    func(context.Context, workflows.RestRequest) error { return nil },
		workflows.JournalActivity: journals,
	})
	env.ExecuteWorkflow(workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "t.hcl", RunID: "r"})
	if err := env.GetWorkflowError(); err != nil || n != 301 {
		t.Errorf("after %d attempts: %v", n, err)
	}
}

// TestCancelledAtTheStart: a run that is cancelled as its next execution loads its plan writes its record.
func TestCancelledAtTheStart(t *testing.T) {
	carried := &workflows.Carried{}
	var err error
	if carried.Steps, err = workflows.PagesOf([]workflows.CarriedStep{{StepState: workflows.StepState{Index: 0, Status: runs.Ran, Key: sum("own")}}}, nil); err != nil {
		t.Fatal(err)
	}
	var ran int
	var env workflowEnvironment
	env = environment(map[string]any{
		workflows.LoadActivity: func(ctx context.Context, req workflows.LoadRequest) (workflows.Loaded, error) {
			env.CancelWorkflow()
			return loads(workflows.Head{Address: "own"}, workflows.Head{Address: "other"})(ctx, req)
		},
		workflows.JournalActivity: func(_ context.Context, req workflows.JournalRequest) error {
			ran = req.Run.Counts[runs.Ran]
			return nil
		},
	})
	env.ExecuteWorkflow(workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "t.hcl", RunID: "r", Carried: carried})
	if err := env.GetWorkflowError(); err == nil || ran != 1 {
		t.Errorf("its record has %d steps that ran; %v", ran, err)
	}
}

// TestHandedOver: a run that continues as new hands over what it shows people, also what it was itself handed.
func TestHandedOver(t *testing.T) {
	was := workflows.Carried{From: []workflows.HitsFrom{{Block: "step.a", Run: "1", N: 2}}, Restarted: "another version began it"}
	env := environment(map[string]any{workflows.LoadActivity: loads(workflows.Head{Address: "own"})})
	env.SetContinueAsNewSuggested(true)
	env.ExecuteWorkflow(workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "t.hcl", RunID: "r", Carried: &was})
	is := *nextInput[workflows.ReproduceInput](t, env).Carried
	testkit.Deep(t, is.From, was.From, "hits")
	testkit.Is(t, is.Restarted, was.Restarted, "restarted")
}

// nextInput is the input with which a workflow continues as new.
func nextInput[T any](t *testing.T, env workflowEnvironment) (in T) {
	t.Helper()
	var next *workflow.ContinueAsNewError
	if err := env.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("it does not continue as new: %v", err)
	}
	testkit.None(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &in))
	return in
}

// TestTriesOfParts: a step that continues as new hands over the tries of the parts that are left, and of no others.
func TestTriesOfParts(t *testing.T) {
	p := &parted{whole: sum("whole"), parts: []artifacts.Digest{sum("left"), sum("never tried"), sum("done")}, blobs: map[artifacts.Digest][]byte{}, ran: map[artifacts.Digest]int{}}
	env := environment(map[string]any{workflows.SplitActivity: p.split, workflows.ExecuteActivity: func(_ context.Context, req workflows.ExecuteRequest) (workflows.Outcome, error) {
		switch req.Key {
		case p.parts[0]:
			return workflows.Outcome{Status: runs.Waiting, NotHere: &workflows.NotHere{}, Failed: req.Failed + 1}, nil
		case p.parts[1]:
			return workflows.Outcome{Status: runs.Waiting, NotHere: &workflows.NotHere{}}, nil
		}
		return workflows.Outcome{Status: runs.Ran, Key: req.Key}, nil
	}})
	env.SetContinueAsNewSuggested(true)
	env.ExecuteWorkflow(workflows.StepWorkflow, workflows.StepInput{Key: p.whole, Task: p.whole, Address: "step.a", RunID: "r",
		Failed: map[artifacts.Digest]int32{p.whole: 4, p.parts[0]: 2, p.parts[2]: 3}})
	testkit.Deep(t, nextInput[workflows.StepInput](t, env).Failed, map[artifacts.Digest]int32{p.whole: 4, p.parts[0]: 3}, "tries")
}

// parted is the store and the activities of a step of many parts.
type parted struct {
	parts []artifacts.Digest
	whole artifacts.Digest

	mu     sync.Mutex
	blobs  map[artifacts.Digest][]byte
	ran    map[artifacts.Digest]int
	joined []artifacts.Digest // what the step's own work was given
}

func (p *parted) stash(_ context.Context, page []byte) (artifacts.Digest, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := artifacts.Sum(page)
	p.blobs[d] = page
	return d, nil
}

func (p *parted) page(_ context.Context, d artifacts.Digest) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.blobs[d], nil
}

func (p *parted) split(ctx context.Context, _ workflows.ExecuteRequest) (workflows.Pages[workflows.Part], error) {
	var parts []workflows.Part
	p.mu.Lock()
	for i, key := range p.parts {
		parts = append(parts, workflows.Part{Key: key, Task: key, Kind: "part", Label: fmt.Sprintf("part %d", i), Hit: p.ran[key] > 0})
	}
	p.mu.Unlock()
	return workflows.PagesOf(parts, func(page []byte, _ int) (artifacts.Digest, error) { return p.stash(ctx, page) })
}

func (p *parted) execute(_ context.Context, req workflows.ExecuteRequest) (_ workflows.Outcome, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ran[req.Key]++
	if req.Key == p.whole {
		p.joined, err = req.Parts.Rows(func(d artifacts.Digest, _ int) ([]byte, error) { return p.blobs[d], nil })
	}
	return workflows.Outcome{Status: runs.Ran, Key: req.Key}, err
}

// TestManyParts: a step of thousands of parts goes on in other executions; each part runs once, and the step gets all of them in order.
func TestManyParts(t *testing.T) {
	const parts = 3000
	p := &parted{whole: artifacts.Sum([]byte("whole")), blobs: map[artifacts.Digest][]byte{}, ran: map[artifacts.Digest]int{}}
	for i := range parts {
		p.parts = append(p.parts, artifacts.Sum(fmt.Append(nil, "part ", i)))
	}
	in := workflows.StepInput{Key: p.whole, Task: p.whole, Address: "step.split.many", RunID: "a"}
	executions := 0
	for again := true; again; executions++ {
		env := environment(map[string]any{workflows.SplitActivity: p.split, workflows.ExecuteActivity: p.execute,
			workflows.StashActivity: p.stash, workflows.PageActivity: p.page})
		events := 0 // as the server counts: three an activity, three a workflow task
		env.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) {
			events += 6
			env.SetContinueAsNewSuggested(events > 4096)
		})
		env.ExecuteWorkflow(workflows.StepWorkflow, in)
		if !env.IsWorkflowCompleted() {
			t.Fatal("the step did not end")
		}
		if again = workflow.IsContinueAsNewError(env.GetWorkflowError()); again {
			in = nextInput[workflows.StepInput](t, env)
		} else {
			testkit.None(t, env.GetWorkflowError())
		}
		if executions > parts/100 {
			t.Fatal("it goes on for ever")
		}
	}
	if executions < 4 {
		t.Errorf("%d executions", executions)
	}
	for i, key := range p.parts {
		if p.ran[key] != 1 {
			t.Fatalf("part %d ran %d times", i, p.ran[key])
		}
	}
	if p.ran[p.whole] != 1 || !slices.Equal(p.joined, p.parts) {
		t.Errorf("the step ran %d times, with %d parts", p.ran[p.whole], len(p.joined))
	}
}

// TestOneByOne: parts that run one by one have none beside them, and none after one that has failed for good.
func TestOneByOne(t *testing.T) {
	whole := artifacts.Sum([]byte("whole"))
	for wanted, fails := range map[int32]error{6: nil, 1: temporal.NewNonRetryableApplicationError("on purpose", workflows.PermanentError, nil)} {
		var at, most, ran atomic.Int32
		env := environment(map[string]any{
			workflows.SplitActivity: func(context.Context, workflows.ExecuteRequest) (workflows.Pages[workflows.Part], error) {
				parts := make([]workflows.Part, 5)
				for i := range parts {
					parts[i] = workflows.Part{Key: artifacts.Sum(fmt.Append(nil, i)), OneByOne: true}
				}
				return workflows.PagesOf(parts, nil)
			},
			workflows.ExecuteActivity: func(_ context.Context, req workflows.ExecuteRequest) (workflows.Outcome, error) {
				most.Store(max(most.Load(), at.Add(1)))
				defer at.Add(-1)
				ran.Add(1)
				runtime.Gosched()
				return workflows.Outcome{Status: runs.Ran, Key: req.Key}, fails
			},
			workflows.StashActivity: func(context.Context, []byte) (artifacts.Digest, error) { return whole, nil },
		})
		env.ExecuteWorkflow(workflows.StepWorkflow, workflows.StepInput{Key: whole, Task: whole, Address: "step.split.alone", RunID: "a"})
		if err := env.GetWorkflowError(); (err != nil) != (fails != nil) || most.Load() != 1 || ran.Load() != wanted {
			t.Errorf("%v: %d activities, up to %d at a time; want %d", err, ran.Load(), most.Load(), wanted)
		}
	}
}

// TestInput is what a person may write after --input.
func TestInput(t *testing.T) {
	for text, wrong := range map[string]string{
		`{"pipeline":"p.hcl","targets":["table.t"],"vars":{"scale":"toy"},"fail_fast":true}`: "",
		`{"pipeline":"p.hcl","target":["table.t"]}`:                                          `unknown field "target"`,
		`{"pipeline":"p.hcl","vars":{"seeds":3}}`:                                            "vars.seeds of type string",
		`"p.hcl"`: "cannot unmarshal string",
	} {
		var in workflows.ReproduceInput
		switch err := json.Unmarshal([]byte(text), &in); {
		case wrong == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong) || !strings.Contains(err.Error(), `"targets"`)):
			t.Errorf("%s: %v, want %s and what an input is", text, err, wrong)
		}
	}
	digest := artifacts.Sum([]byte("plan"))
	in := workflows.ReproduceInput{Pipeline: "p.hcl", Targets: []string{"t"}, Vars: map[string]string{"a": "b"}, FailFast: true,
		Plan: &digest, RunID: "r"}
	b, err := json.Marshal(in)
	testkit.None(t, err)
	var again workflows.ReproduceInput
	if err := json.Unmarshal(b, &again); err != nil || !reflect.DeepEqual(in, again) {
		t.Errorf("%s reads back as %+v, %v", b, again, err)
	}
}

// TestRefusedInput: what cannot be meant, or not be recorded, ends a run at its start.
func TestRefusedInput(t *testing.T) {
	more := json.RawMessage(`{"targets": ["table.t"]}`)
	for _, c := range []struct {
		want string
		args []any
	}{
		{"one input, which names", []any{workflows.ReproduceInput{}}},
		{"one input, which names", []any{workflows.ReproduceInput{Pipeline: "p.hcl"}, &more}},
		{"name blocks in place of", []any{workflows.ReproduceInput{Pipeline: "p.hcl", Targets: []string{strings.Repeat("x", 1<<20)}}}},
		{"queue-control", []any{workflows.ReproduceInput{Pipeline: "p.hcl"}}}, // it begins
	} {
		e := environment(nil)
		e.ExecuteWorkflow(workflows.ReproduceWorkflow, c.args...)
		testkit.ErrSays(t, e.GetWorkflowError(), c.want)
	}
}

// TestRunIDsSortByTime: also those of one second.
func TestRunIDsSortByTime(t *testing.T) {
	at, last := time.Date(2026, 11, 21, 16, 25, 7, 0, time.UTC), ""
	for i := range 4 {
		id := workflows.NewRunID(at.Add(time.Duration(i)*time.Millisecond), "fedcba98"[i:])
		testkit.That(t, id > last && len(id) == len("20261121T162507Z-01234567"), id, "after", last)
		last = id
	}
}

// TestRunBegan reads the time of a run's id.
func TestRunBegan(t *testing.T) {
	at := time.Date(2026, 11, 21, 16, 25, 7, 999, time.UTC)
	if got, ok := workflows.RunBegan(workflows.NewRunID(at, "0123456789abcdef")); !ok || !got.Equal(at.Truncate(time.Second)) {
		t.Error(got, ok)
	}
	for _, id := range []string{"", "mine", "2026-11-21"} {
		if got, ok := workflows.RunBegan(id); ok {
			t.Errorf("%q: %s", id, got)
		}
	}
}

// TestReplay runs today's workflow code over saved histories, those of releases before
// this one among them. If it fails, runs that are in flight would fail the same way, and
// be started again: keep the old path behind workflow.GetVersion, or say so in the change
// and remove the history. `go test ./worker -update` writes those that are not there.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json*"))
	if err != nil || len(files) < 13 {
		t.Fatalf("%d histories, %v", len(files), err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".json.gz"), func(t *testing.T) {
			r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true}) // a busy machine is none
			testkit.None(t, err)
			r.RegisterWorkflowWithOptions(workflows.Reproduce, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
			r.RegisterWorkflowWithOptions(workflows.Step, workflow.RegisterOptions{Name: workflows.StepWorkflow})
			file, err := os.Open(f)
			testkit.None(t, err)
			defer file.Close()
			z, err := gzip.NewReader(file)
			testkit.None(t, err)
			h, err := client.HistoryFromJSON(z, client.HistoryJSONOptions{})
			testkit.None(t, err)
			testkit.None(t, r.ReplayWorkflowHistory(nil, h))
		})
	}
}
