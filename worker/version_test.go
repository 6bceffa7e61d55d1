package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

// otherVersion starts a worker of another version of redsi: its workflow code does
// something that ours does not. Its activities are ours, and go on when end ends what
// polls for workflows.
func (b *bench) otherVersion() (end func()) {
	b.t.Helper()
	a := b.activities()
	var flows []sdk.Worker
	for _, queue := range []string{b.t.Name(), workflows.ControlQueue(b.t.Name())} {
		does := sdk.New(b.c, queue, sdk.Options{DisableWorkflowWorker: true, MaxHeartbeatThrottleInterval: time.Second})
		for name, f := range a.Named() {
			does.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
		}
		decides := sdk.New(b.c, queue, sdk.Options{LocalActivityWorkerOnly: true})
		decides.RegisterWorkflowWithOptions(func(ctx workflow.Context, in workflows.ReproduceInput) (*workflows.ReproduceResult, error) {
			workflow.SideEffect(ctx, func(workflow.Context) any { return nil }) // a timer would take the server a second
			return workflows.Reproduce(ctx, in, nil)
		}, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
		decides.RegisterWorkflowWithOptions(workflows.Step, workflow.RegisterOptions{Name: workflows.StepWorkflow})
		for _, w := range []sdk.Worker{does, decides} {
			testkit.None(b.t, w.Start())
		}
		b.t.Cleanup(does.Stop)
		flows = append(flows, decides)
	}
	return func() {
		for _, w := range flows {
			w.Stop()
		}
	}
}

// TestOtherVersion: a run that another version of redsi began, and that this one
// cannot continue with, is started again by itself and finds what is finished. One without
// RunAgain, as versions before this one started them, ends in words that say what to do.
// A step that such a run left at work is waited for by the next run that wants it.
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	b := idleBench(t, 8)
	src := `
step "text" "a" { text = "version a" }
step "text" "b" {
  text  = "version b"
  after = step.text.a.out
  hold  = true
}
step "short" "c" {
  text  = "version c"
  after = [step.text.b.out]
}
`
	end := b.otherVersion()
	began := b.start(src, "1")
	b.says("version b")
	_, d := b.plan(src)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	old, err := b.c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: t.Name() + "/old", TaskQueue: t.Name()},
		workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "t.hcl", Plan: &d, RunID: t.Name() + "old"})
	testkit.None(t, err)
	b.awaitActivity(workflows.RestActivity, "", old.GetID())
	end()
	b.startWorker()

	// A run of this version wants the same step, which is at work in the other's way.
	next := b.start(src, "2")
	b.awaitActivity(workflows.RestActivity, "", next.GetID())
	close(b.hold)
	for name, w := range map[string]client.WorkflowRun{"begun before": began, "begun after": next} {
		r, err := b.wait(w)
		testkit.None(t, err, name, r)
		testkit.Is(t, r.Hit+r.Ran, 3, name, r)
	}
	var app *temporal.ApplicationError
	err = old.Get(ctx, nil)
	if !errors.As(err, &app) || app.Type() != workflows.OtherVersionError {
		t.Fatalf("a run of before: %v", err)
	}
	for _, word := range []string{t.Name() + "/old", "another version of redsi", "a new run continues from them"} {
		testkit.Says(t, app.Message(), word)
	}
	for _, text := range []string{"version a", "version b"} {
		testkit.Is(t, b.count(text), 1, text)
	}
	if hit, ran := b.run(src, "3"); hit != 3 || ran != 0 {
		t.Errorf("afterwards: %d hit, %d ran", hit, ran)
	}
	if s, err := workflows.Ask[workflows.State](ctx, b.c, began.GetID(), workflows.StateQuery); err != nil || !strings.Contains(s.Restarted, "another version of redsi") {
		t.Errorf("who follows it is told %q, %v", s.Restarted, err)
	}
}

// TestOtherVersionAtWork: a run that is started again asks anew for a step whose cut, which the execution before began,
// is still stopping.
func TestOtherVersionAtWork(t *testing.T) {
	t.Parallel()
	b := idleBench(t, 8)
	begun, stop := make(chan bool, 2), make(chan bool)
	slow := func(text string) error {
		begun <- true
		<-stop
		return nil
	}
	b.fail.Store(&slow)
	end := b.otherVersion()
	w := b.start(`step "split" "s" { text = "stops slowly" }`, "1")
	<-begun
	end()
	b.startWorker()
	testkit.None(t, b.c.SignalWorkflow(t.Context(), w.GetID(), "", workflows.SettledSignal, workflows.Settled{Number: -1}))
	b.awaitState(func(s workflows.State) bool {
		return s.Restarted != "" && s.Counts[runs.Running]+s.Counts[runs.Failed] == 1
	}, w)
	b.awaitActivity(workflows.RestActivity, "", b.steps(w)[0].Workflow)
	close(stop)
	if r, err := b.wait(w); err != nil || r.Hit+r.Ran != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
}

// TestOtherKinds: a plan that was made for other versions of kinds than a worker has is
// refused at once, before anything of it is done, in words that say which of the two is
// older.
func TestOtherKinds(t *testing.T) {
	src := `step "text" "a" { text = "of a kind" }`
	outputs := []step.Output{{Name: "out", Type: "text", Help: "text"}}
	for name, c := range map[string]struct {
		planned, is int    // versions of the kind
		has         string // its name on the worker
		said        string
	}{
		"newer":   {1, 2, "text", "the plan was made for version 1 of kind text, but the redsi that runs it is newer and has version 2: plan again"},
		"older":   {2, 1, "text", "the plan was made for version 2 of kind text, but the redsi that runs it (a worker, or a redsi dev that is open) is older and has version 1: update or end it"},
		"without": {1, 1, "letter", "the plan has steps of kind text, which this redsi does not have"},
	} {
		t.Run(name, func(t *testing.T) {
			b := idleBench(t, 2)
			kind := func(name string, version int) *step.Registry {
				return step.NewRegistry(step.Define(step.Kind[textConfig]{Name: name, Version: version, Doc: "Text.", Outputs: outputs, Run: b.write}))
			}
			b.reg = kind("text", c.planned)
			a := b.activities()
			a.Registry = kind(c.has, c.is)
			b.startWorkerWith(a, worker.Options{})
			_, err := b.wait(b.start(src, "1"))
			var app *temporal.ApplicationError
			if !errors.As(err, &app) || app.Type() != workflows.PermanentError || !strings.Contains(app.Message(), c.said) {
				t.Errorf("the run: %v", err)
			}
			testkit.Is(t, b.count("of a kind"), 0, "it ran times")
		})
	}
}
