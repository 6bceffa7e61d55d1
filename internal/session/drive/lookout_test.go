package drive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/activity/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/failure/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	sdk "go.temporal.io/sdk/worker"
	flow "go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/devserver/devservertest"
	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/session/pilots"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/workflows"
)

// atWork answers that each workflow has an activity that has begun, and counts the questions.
type atWork struct {
	client.Client
	asked *atomic.Int64
}

func (c atWork) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	c.asked.Add(1)
	return &workflowservice.DescribeWorkflowExecutionResponse{
		PendingActivities: []*workflow.PendingActivityInfo{{ActivityId: "work-1", State: enums.PENDING_ACTIVITY_STATE_STARTED}}}, nil
}

// TestLooks: steps that are cut and others are asked about at once, and the run is asked once.
func TestLooks(t *testing.T) {
	var steps []workflows.StepState
	for i := range 2000 {
		s := workflows.StepState{Address: fmt.Sprint(i), Activity: "work-1"}
		if i%2 == 0 {
			s.Workflow = "step"
		}
		steps = append(steps, s)
	}
	conn := &Connection{Client: atWork{asked: new(atomic.Int64)}}
	got := (&Driver{}).looks(t.Context(), conn, "run", steps)
	if asked := conn.Client.(atWork).asked.Load(); len(got) != len(steps) || asked != 1+1000 {
		t.Errorf("%d looks at %d steps, of %d questions", len(got), len(steps), asked)
	}
}

// TestLookOf: what is queued has not begun, what is tried again has; parts are counted, and begin with the first.
func TestLookOf(t *testing.T) {
	at := time.Unix(100, 0).UTC()
	queued := &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_SCHEDULED,
		ActivityOptions: &activity.ActivityOptions{TaskQueue: &taskqueue.TaskQueue{Name: "redsi-gpu"}}}
	began := func(at time.Time) *workflow.PendingActivityInfo {
		return &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_STARTED, LastStartedTime: timestamppb.New(at), LastWorkerIdentity: "17@vm, slurm 47_3 on n1"}
	}
	again := &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_SCHEDULED, Attempt: 2, LastFailure: &failure.Failure{Message: "disk full"}}
	later := &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_SCHEDULED, Attempt: 2, LastFailure: &failure.Failure{Message: "disk full"},
		NextAttemptScheduleTime: timestamppb.New(time.Now().Add(time.Hour))}
	for _, tt := range []struct {
		name    string
		pending []*workflow.PendingActivityInfo
		begun   bool
		busy    bool
		queue   string
		at      time.Time
		note    string
	}{
		{name: "between two activities"},
		{name: "queued", pending: []*workflow.PendingActivityInfo{queued}, queue: "redsi-gpu"},
		{name: "at work", pending: []*workflow.PendingActivityInfo{began(at)}, begun: true, busy: true, at: at},
		{name: "tried again", pending: []*workflow.PendingActivityInfo{again}, begun: true, note: "attempt 2, after: disk full"},
		{name: "to be tried again", pending: []*workflow.PendingActivityInfo{later}, begun: true, busy: true, note: "attempt 2, after: disk full"},
		{name: "in parts", pending: []*workflow.PendingActivityInfo{queued, began(at.Add(time.Second)), began(at), queued}, begun: true, busy: true,
			queue: "redsi-gpu", at: at, note: "2 parts running, 2 queued"},
	} {
		k := lookOf(&Connection{}, "", tt.pending...)
		if k.begun != tt.begun || k.busy != tt.busy || k.queue != tt.queue || !k.work.Began.Equal(tt.at) || k.work.Progress.Note != tt.note || (k.work.Worker == "vm, slurm 47_3 on n1") == tt.at.IsZero() {
			t.Errorf("%s: %+v", tt.name, k)
		}
	}
}

// TestEndLeftovers: what a killed process left open ends; runs that may have workers elsewhere stay, with their children.
func TestEndLeftovers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	program, err := devserver.Find()
	testkit.None(t, err)
	server, err := devservertest.Start(ctx, devserver.Options{Program: program})
	testkit.None(t, err)
	t.Cleanup(server.Stop)
	opts, err := server.ClientOptions()
	testkit.None(t, err)
	opts.Logger = log.NewStructuredLogger(slog.New(slog.DiscardHandler))
	c, err := client.DialContext(ctx, opts)
	testkit.None(t, err)
	t.Cleanup(c.Close)
	w := sdk.New(c, "q", sdk.Options{})
	child := func(ctx flow.Context) error { return flow.Await(ctx, func() bool { return false }) }
	w.RegisterWorkflowWithOptions(child, flow.RegisterOptions{Name: "child"})
	w.RegisterWorkflowWithOptions(func(ctx flow.Context, again bool) error {
		if again {
			return flow.NewContinueAsNewError(ctx, "parent", false)
		}
		id := flow.GetInfo(ctx).WorkflowExecution.ID + "/child"
		return flow.ExecuteChildWorkflow(flow.WithChildOptions(ctx, flow.ChildWorkflowOptions{WorkflowID: id}), "child").Get(ctx, nil)
	}, flow.RegisterOptions{Name: "parent"})
	testkit.None(t, w.Start())
	t.Cleanup(w.Stop)
	for id, conn := range map[string]*Connection{
		"own": {Server: &devserver.Server{}}, "listening": {Server: &devserver.Server{Info: devserver.Info{Listen: "127.0.0.2"}}}, "cluster's": {},
	} {
		testkit.None(t, testkit.Err(c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: "q", Memo: conn.stays()}, "parent", true)))
	}
	dr := &Driver{Session: &session.Session{Log: slog.New(slog.DiscardHandler)}}
	for {
		open, err := listRunning(ctx, c, "WorkflowId != ''")
		testkit.None(t, err)
		if len(open) == 6 {
			break
		}
		testkit.None(t, readers.Pause(ctx, 20*time.Millisecond))
	}
	w.Stop() // a parent would fail when its child is ended, before it is ended itself
	testkit.None(t, dr.endLeftovers(ctx, c, time.Now()))
	for id, want := range map[string]enums.WorkflowExecutionStatus{
		"own": enums.WORKFLOW_EXECUTION_STATUS_TERMINATED, "own/child": enums.WORKFLOW_EXECUTION_STATUS_TERMINATED,
		"listening": enums.WORKFLOW_EXECUTION_STATUS_RUNNING, "listening/child": enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
		"cluster's": enums.WORKFLOW_EXECUTION_STATUS_RUNNING, "cluster's/child": enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
	} {
		d, err := c.DescribeWorkflowExecution(ctx, id, "")
		testkit.None(t, err, id, d.GetWorkflowExecutionInfo().GetStatus())
		testkit.Is(t, d.WorkflowExecutionInfo.Status, want, id, d.GetWorkflowExecutionInfo().GetStatus())
	}
}

type listener struct {
	session.Quiet
	said []string
}

func (l *listener) Say(text string) { l.said = append(l.said, text) }

// TestOutlast: what a run has left is read again while the store is away, which is told once; other errors are returned.
func TestOutlast(t *testing.T) {
	away, broken := fmt.Errorf("table.t: %w", &artifacts.AwayError{Err: errors.New("connection refused")}), errors.New("broken")
	for _, c := range []struct {
		errs []error
		want error
		said int
	}{
		{[]error{nil}, nil, 0},
		{[]error{away, away, nil}, nil, 1},
		{[]error{away, broken}, broken, 1},
		{[]error{artifacts.ErrNotExist}, artifacts.ErrNotExist, 0},
	} {
		l := &listener{}
		dr := &Driver{Session: &session.Session{Talk: l}}
		err := dr.Outlast(t.Context(), func() error {
			e := c.errs[0]
			c.errs = c.errs[1:]
			return e
		})
		if !errors.Is(err, c.want) || len(c.errs) > 0 || len(l.said) != c.said {
			t.Errorf("%v, %v left, said %q", err, c.errs, l.said)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&Driver{Session: &session.Session{Talk: session.Quiet{}}}).Outlast(ctx, func() error { return away }); !errors.Is(err, away) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestOpen: pilots are for what is queued, runs, or was given out with others, and for nothing that waits.
func TestOpen(t *testing.T) {
	p := &Pilots{Site: &slurm.Site{Max: 3, Pilots: []slurm.Pilot{{Has: capacity.Amount{CPUs: 2, Memory: 1e9}, Time: time.Hour, Max: 9}, {Has: capacity.Amount{CPUs: 8, Memory: 1e9}, Time: time.Hour, Max: 2}}}, steps: map[string]pilots.Step{}}
	var v Sight
	for address, s := range map[string]workflows.StepState{"queued": {Status: runs.Queued, Activity: "work-1"}, "runs": {Status: runs.Running, Activity: "work-2"},
		"batched": {Status: runs.Waiting, Activity: "work-3"}, "waits": {Status: runs.Waiting}, "ran": {Status: runs.Ran, Activity: "work-3"}} {
		s.Address, p.steps[address] = address, pilots.Step{Address: address}
		v.State.Steps = append(v.State.Steps, s)
	}
	ready, begun := p.open(t.Context(), nil, artifacts.Store{}, v, time.Now())
	got := lists.Set(lists.Map(ready, func(s pilots.Step) string { return s.Address }))
	if len(ready) != 2 || !got["queued"] || !got["batched"] || len(begun) != 1 || begun[0].Address != "runs" {
		t.Errorf("%v, %v", ready, begun)
	}
	testkit.Deep(t, p.slots(), 18)
}

func TestSlurmJob(t *testing.T) {
	for place, want := range map[string]string{"vm, slurm 47_3 on n1": "47_3", "vm, slurm 47 on n1": "47", "vm": "", "vm, pbs 12.head on h": "", "": ""} {
		testkit.Is(t, slurmJob(place), want, place)
	}
}

// TestEndsInShort: lines of a step's error that its FAIL line has shown are not said again, but a test's are.
func TestEndsInShort(t *testing.T) {
	dr := &Driver{Session: &session.Session{Hint: func(verb string, args ...string) string {
		return strings.Join(append([]string{"redsi", verb}, args...), " ")
	}}}
	failed := &workflows.RunError{Type: workflows.FailedRun, Text: "1 of 2 steps failed:\nstep.a: exit code 1\n    Traceback:\n      File x\nstep.b: the end of its standard error:\n    Traceback:\n      File x\n    KeyError: 'y'"}
	for whole, want := range map[bool]string{false: "1 of 2 steps failed:\nstep.a: exit code 1\nstep.b: the end of its standard error: KeyError: 'y'\n`redsi logs --failed --run r` shows all of it", true: failed.Text} {
		if got := dr.once(failed, "r", whole); got.Error() != want {
			t.Errorf("%v: %v", whole, got)
		}
	}
	if got := dr.Ended(temporal.NewCanceledError(), "r", "next", false); got.Error() != "run r was cancelled\nnext" {
		t.Error(got)
	}
}

// TestCancelledSays: the error of a cancelled run says how far its steps are.
func TestCancelledSays(t *testing.T) {
	at := journal.Checkpoint{Address: "step.train", At: 600, Of: 1000, Unit: "step"}
	e := &Cancelled{RunID: "r", Sum: "1 hit, 1 cancelled", Resumes: []journal.Checkpoint{at}, Next: "`redsi run` goes on"}
	if got, want := e.Error(), "run r was cancelled: 1 hit, 1 cancelled\nstep.train has a checkpoint at step 600 of 1,000\n`redsi run` goes on"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAgain: signals that a batch system sends at once are one; a person's next interrupt is another.
func TestAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			at   []time.Duration
			quit time.Duration // 0: it does not
		}{
			{[]time.Duration{0, 5 * time.Millisecond, 999 * time.Millisecond}, 0},
			{[]time.Duration{5 * time.Millisecond, 1500 * time.Millisecond}, 1500 * time.Millisecond},
		} {
			ctx, end := context.WithTimeout(t.Context(), time.Minute)
			signals := make(chan os.Signal, 1)
			began := time.Now()
			for _, at := range c.at {
				time.AfterFunc(at, func() { signals <- os.Interrupt })
			}
			if quits := interrupted(ctx, signals); quits != (c.quit > 0) || quits && time.Since(began) != c.quit {
				t.Errorf("%v: %v after %s", c.at, quits, time.Since(began))
			}
			end()
		}
	})
}

// TestHeed: the loss of a server and its return are told once each.
func TestHeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithTimeout(t.Context(), 2*time.Minute)
		defer end()
		began := time.Now()
		var said bytes.Buffer
		heed(ctx, slog.New(slog.NewTextHandler(&said, nil)), func(ctx context.Context) error {
			if at := time.Since(began); at < 25*time.Second || at > 55*time.Second {
				return nil
			}
			return errors.New("connection refused")
		})
		if text := said.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "does not answer;") || !strings.Contains(text, "answers again\" after=30s") {
			t.Error(text)
		}
	})
}

// TestUntilJobEnds: a worker ends before its job, at most half of what is left before it; without a job it does not.
func TestUntilJobEnds(t *testing.T) {
	l := &listener{}
	dr := &Driver{Session: &session.Session{Talk: l, Log: slog.New(slog.DiscardHandler)}}
	if until := dr.UntilJobEnds(t.Context()); until != 0 || len(l.said) != 0 {
		t.Fatalf("%s, %q", until, l.said)
	}
	t.Setenv("SLURM_JOB_ID", "47")
	t.Setenv("SLURMD_NODENAME", "n1")
	for left, want := range map[time.Duration]time.Duration{time.Hour: time.Hour - beforeJobEnds, time.Minute: 30 * time.Second, -time.Minute: time.Second} {
		t.Setenv("SLURM_JOB_END_TIME", strconv.FormatInt(time.Now().Add(left).Unix(), 10))
		until := dr.UntilJobEnds(t.Context())
		if d := want - until; d < 0 || d > 10*time.Second || !strings.Contains(l.said[len(l.said)-1], "slurm 47 on n1 is ended at ") {
			t.Errorf("%s: %s, %q", left, until, l.said)
		}
	}
}
