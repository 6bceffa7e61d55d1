package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/devserver/devservertest"
	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

// link is the way of some clients to a cluster, which may be cut.
type link struct {
	mu    sync.Mutex
	away  bool
	conns []net.Conn
}

func (l *link) dial(ctx context.Context, address string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return nil, fmt.Errorf("dial %s: connection refused", address)
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err == nil {
		l.conns = append(l.conns, c)
	}
	return c, err
}

func (l *link) set(away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away = away; away {
		for _, c := range l.conns {
			c.Close()
		}
		l.conns = nil
	}
}

// impatient makes each call that the cut fails one that the SDK has tried for as long
// as it ever does, a minute: it gives up then with this error, and not before.
func (l *link) impatient(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, cc, opts...)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && l.away {
		return status.Error(codes.DeadlineExceeded, "context deadline exceeded")
	}
	return err
}

// followed is a run on a cluster, in a folder of its own, that is followed as
// `redsi run` does it.
type followed struct {
	*app
	t    *testing.T
	link link
	conn *drive.Connection
	dir  string
	out  *lockedBuffer
	done chan drive.Outcome

	startAt func(*link, worker.Options) (stop func()) // a worker that reaches the cluster by a link
}

// beat is how often the workers of these tests say that they live.
const beat = time.Second

const oneStep = `step "command" "one" {
  argv    = ["sh", "-c", "echo x > out/out.txt"]
  outputs = ["out.txt"]
}
`

// ownServer is a Temporal server of a test, and how clients reach it.
func ownServer(t *testing.T) (*devservertest.OwnServer, func(...grpc.DialOption) client.Client) {
	t.Helper()
	program, err := devserver.Find()
	testkit.None(t, err)
	server, err := devservertest.Start(t.Context(), devserver.Options{Program: program, SearchAttributes: workflows.SearchAttributes()})
	testkit.None(t, err)
	t.Cleanup(server.Stop)
	return server, func(dial ...grpc.DialOption) client.Client {
		opts, err := server.ClientOptions()
		testkit.None(t, err)
		opts.Logger, opts.ConnectionOptions.DialOptions, opts.WorkerHeartbeatInterval = log.NewStructuredLogger(slog.New(slog.DiscardHandler)), dial, beat
		c, err := client.DialContext(t.Context(), drive.Sealed(opts, payload.Codec{}))
		testkit.None(t, err)
		t.Cleanup(c.Close)
		return c
	}
}

func follow(t *testing.T, src string) *followed {
	t.Helper()
	server, connect := ownServer(t)
	f := &followed{t: t, dir: t.TempDir(), out: &lockedBuffer{}, done: make(chan drive.Outcome, 1)}
	f.app = newApp(&session.Session{Registry: kinds.Registry(), Log: slog.New(slog.DiscardHandler),
		StateDir: filepath.Join(f.dir, ".redsi"), StoreURL: filepath.Join(f.dir, "store"), File: filepath.Join(f.dir, "pipelines.hcl")}, f.out, f.out)
	f.Delays = drive.Delays{Silent: 500 * time.Millisecond, Unseen: 300 * time.Millisecond, Say: 500 * time.Millisecond, Lost: 2 * beat}
	f.cmd = newRoot(newApp(&session.Session{}, nil, nil))
	testkit.Write(t, f.File, src)
	dial := grpc.WithContextDialer(f.link.dial)
	f.conn = &drive.Connection{Client: connect(dial, grpc.WithChainUnaryInterceptor(f.link.impatient)), Namespace: "default", Host: server.Address}
	store, err := f.OpenStore(t.Context())
	testkit.None(t, err)
	f.startAt = func(l *link, o worker.Options) func() {
		c := connect(grpc.WithContextDialer(l.dial)) // a patient one: what a step came to is told as soon as the cluster is back
		w := worker.New(c, f.Activities(store, &drive.Connection{Client: c}, workflows.Features{SearchAttributes: true}), o)
		testkit.None(t, w.Start())
		stop := sync.OnceFunc(w.Stop)
		t.Cleanup(stop)
		return stop
	}
	pl, _, err := f.LoadPlan(t.Context())
	testkit.None(t, err)
	digest, err := plan.Store(t.Context(), store.Own.Blobs, pl)
	testkit.None(t, err)
	wf, err := f.conn.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "followed", TaskQueue: workflows.TaskQueue, RetryPolicy: workflows.RunAgain()},
		workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: pl.Pipeline, Plan: &digest, RunID: "followed"})
	testkit.None(t, err)
	go func() {
		res, err := f.app.Follow(t.Context(), f.conn, wf, false)
		e := drive.Outcome{Err: err}
		if res != nil {
			e.Res = *res
		}
		f.done <- e
	}()
	return f
}

// says waits until something was said so often.
func (f *followed) says(text string, times int) {
	f.t.Helper()
	awaitTrue(f.t, text, func() bool {
		select {
		case e := <-f.done:
			f.t.Fatalf("the run ended before it said %q: %+v\n%s", text, e, f.out)
		default:
		}
		return strings.Count(f.out.String(), text) >= times
	})
}

// ends waits until the run has ended well.
func (f *followed) ends() {
	f.t.Helper()
	select {
	case e := <-f.done:
		if e.Err != nil || e.Res.Hit+e.Res.Ran != 1 { // a hit, if the answer to the server was lost
			f.t.Fatalf("%+v\n%s", e, f.out)
		}
	case <-time.After(serverPatience):
		f.t.Fatalf("the run has not ended:\n%s", f.out)
	}
}

// TestNobodyPolls: that no worker polls is said, and again, until one does.
func TestNobodyPolls(t *testing.T) {
	t.Parallel()
	f := follow(t, oneStep)
	f.says(`no worker polls the queue "redsi" at `+f.conn.Host+": start one with `redsi worker`", 3)
	f.startAt(&f.link, worker.Options{})
	f.ends()
}

// TestHeadAlone: a worker that leaves steps to others plays the run, of which it is said who does its steps; when that worker is
// lost without a word, it is said that nobody plays the run, before the server forgets it. Others see the run through.
func TestHeadAlone(t *testing.T) {
	t.Parallel()
	f := follow(t, oneStep)
	var way link
	f.startAt(&way, worker.Options{Head: true})
	f.says("no worker polls the queue \"redsi\": start one with `redsi worker`", 1)
	way.set(true)
	lost := time.Now()
	f.says(`no worker polls the queue "redsi" at `+f.conn.Host, 1)
	if took := time.Since(lost); took > 4*time.Minute {
		t.Errorf("said after %s", took)
	}
	f.startAt(&f.link, worker.Options{})
	f.ends()
}

// TestHeadCancels: a run whose steps no worker has begun needs none to end when it is cancelled.
func TestHeadCancels(t *testing.T) {
	t.Parallel()
	f := follow(t, oneStep)
	f.startAt(&f.link, worker.Options{Head: true})
	f.says("none polls the queue", 1)
	testkit.None(t, f.conn.Client.CancelWorkflow(t.Context(), "followed", ""))
	if e := <-f.done; !temporal.IsCanceledError(e.Err) {
		t.Errorf("%+v\n%s", e, f.out)
	}
}

// TestBuildGone: that no worker of a run's build polls is said, with what to do, though
// others do poll. Temporal pins a run only to a build that the queue has had.
func TestBuildGone(t *testing.T) {
	t.Parallel()
	f := follow(t, oneStep)
	of := worker.Deployment{Name: "paper", Build: "v1"}
	gone := f.startAt(&f.link, worker.Options{Deployment: of})
	awaitTrue(t, "a queue that v1 has joined", func() bool { // a poll that is cut off before does not join it
		v, err := f.conn.Client.WorkerDeploymentClient().GetHandle(of.Name).DescribeVersion(t.Context(), client.WorkerDeploymentDescribeVersionOptions{BuildID: of.Build})
		return err == nil && slices.ContainsFunc(v.Info.TaskQueuesInfos, func(q client.WorkerDeploymentTaskQueueInfo) bool {
			return q.Name == workflows.TaskQueue && q.Type == client.TaskQueueTypeWorkflow
		})
	})
	gone()
	awaitTrue(t, "a queue that knows v1", func() bool {
		_, err := f.conn.Client.UpdateWorkflowExecutionOptions(t.Context(), client.UpdateWorkflowExecutionOptionsRequest{WorkflowId: "followed",
			WorkflowExecutionOptionsChanges: client.WorkflowExecutionOptionsChanges{VersioningOverride: &client.VersioningOverrideChange{
				Value: &client.PinnedVersioningOverride{Version: sdk.WorkerDeploymentVersion{DeploymentName: of.Name, BuildID: of.Build}}}}})
		return err == nil
	})
	f.startAt(&f.link, worker.Options{Deployment: worker.Deployment{Name: of.Name, Build: "v2"}})
	f.says("the run needs build v1 of the deployment paper, but no worker of that build polls", 2)
	f.says("temporal workflow update-options --workflow-id followed --versioning-override-behavior auto_upgrade", 2)
	f.startAt(&f.link, worker.Options{Deployment: of})
	f.ends()
}

// TestClusterAway: a cluster that is away for longer than the SDK waits for it, for the
// run that follows and for the worker, is waited for with a word. A step whose worker
// was cut off for more than five seconds may begin again.
func TestClusterAway(t *testing.T) {
	t.Parallel()
	marks := t.TempDir()
	f := follow(t, fmt.Sprintf(`step "command" "one" {
  argv    = ["sh", "-c", "touch %[1]s/began; while ! [ -e %[1]s/go ]; do sleep 0.05; done; echo x > out/out.txt"]
  outputs = ["out.txt"]
}
`, marks))
	f.startAt(&f.link, worker.Options{})
	began := filepath.Join(marks, "began")
	awaitTrue(t, "the step is at work", func() bool { _, err := os.Stat(began); return err == nil })
	for range 2 {
		f.link.set(true)
		n := strings.Count(f.out.String(), "the Temporal server does not answer")
		f.says("the Temporal server does not answer (the cluster at "+f.conn.Host+"); waiting for the run", n+2)
		f.link.set(false)
		f.says("continuing", strings.Count(f.out.String(), "continuing")+1)
	}
	f.link.set(true)
	testkit.Write(t, filepath.Join(marks, "go"), "")
	f.says("the Temporal server does not answer", strings.Count(f.out.String(), "the Temporal server does not answer")+1)
	f.link.set(false)
	f.ends()
}

// TestTerminated: a run that is ended from outside says so.
func TestTerminated(t *testing.T) {
	t.Parallel()
	f := follow(t, oneStep)
	testkit.None(t, f.conn.Client.TerminateWorkflow(t.Context(), "followed", "", "by hand"))
	e := <-f.done
	testkit.ErrSays(t, f.Ended(e.Err, "followed", "next", false), "run followed was ended from outside")
}

// TestBegunAgain: who follows a run that the server begins again, since another version
// of redsi had begun it, is told so and sees it through.
func TestBegunAgain(t *testing.T) {
	t.Parallel()
	f := follow(t, oneStep)
	const why = "followed was started by another version of redsi"
	failed := make(chan struct{}, 1)
	w := sdk.New(f.conn.Client, workflows.TaskQueue, sdk.Options{LocalActivityWorkerOnly: true})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, in workflows.ReproduceInput) (*workflows.ReproduceResult, error) {
		if workflow.GetInfo(ctx).Attempt > 1 {
			return workflows.Reproduce(ctx, in, nil)
		}
		failed <- struct{}{}
		return nil, temporal.NewApplicationError(why, workflows.OtherVersionError)
	}, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
	testkit.None(t, w.Start())
	<-failed
	f.startAt(&f.link, worker.Options{})
	w.Stop()
	f.ends()
	testkit.Says(t, f.out.String(), "the run was started again: "+why)
}

// largeRun is a run of very many steps that tells its counts, and would not be asked for
// all of its steps: it has no other query.
func largeRun(ctx workflow.Context, in workflows.ReproduceInput) error {
	s := workflows.State{RunID: in.RunID, Counts: map[runs.Status]int{runs.Ran: 40_000, runs.Running: 185, runs.Waiting: 9_812, runs.Failed: 3}}
	for i := range 100 {
		x := workflows.StepState{Index: i, Address: fmt.Sprintf("step.command.s[%d]", i), Status: runs.Running}
		if i < 3 {
			x.Status, x.Error = runs.Failed, "it broke"
		}
		s.Steps = append(s.Steps, x)
	}
	if err := workflow.SetQueryHandler(ctx, workflows.StateQuery, func() (workflows.State, error) { return s, nil }); err != nil {
		return err
	}
	workflow.GetSignalChannel(ctx, "end").Receive(ctx, nil)
	return nil
}

// TestStatusOfMany: runs that do not answer are told as such, beside those that do; what
// is printed of each is bounded, and one is found by the beginning of its id.
func TestStatusOfMany(t *testing.T) {
	server, connect := ownServer(t)
	c := connect()
	w := sdk.New(c, "large", sdk.Options{LocalActivityWorkerOnly: true})
	w.RegisterWorkflowWithOptions(largeRun, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
	testkit.None(t, w.Start())
	t.Cleanup(w.Stop)
	begin := func(id, queue, run string, priority int) {
		t.Helper()
		testkit.None(t, testkit.Err(c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: queue, Priority: temporal.Priority{PriorityKey: priority}},
			workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "p.hcl", RunID: run})))
	}
	begin(workflows.ReproduceWorkflowID("20260101T000000Z-aa"), "large", "20260101T000000Z-aa", 1)
	begin("by-hand", "large", "20260202T000000Z-bb", 3)
	const silent = 20
	for i := range silent {
		begin(workflows.ReproduceWorkflowID(fmt.Sprintf("20260303T000000Z-%d", i)), "nobody", "", 0)
	}
	var out lockedBuffer
	a := newApp(&session.Session{Registry: kinds.Registry(), Log: slog.New(slog.DiscardHandler), File: "none.hcl"}, &out, &out)
	a.Delays = drive.UsualDelays(false)
	a.cmd = newRoot(a)
	conn := &drive.Connection{Client: c, Namespace: "default", Host: server.Address}
	var r drive.Report
	awaitTrue(t, "all runs are listed, and two of them answer", func() bool {
		r = drive.Report{Server: conn.Host}
		testkit.None(t, a.OpenRuns(t.Context(), conn, &r))
		answered, unheard := 0, 0 // a busy server may not say of all in time that nobody polls
		for _, x := range r.Running {
			switch {
			case x.Error == "" && x.Counts[runs.Ran] == 40_000:
				answered++
			case strings.Contains(x.Error, "does not answer: no worker polls for it"):
				unheard++
			}
		}
		return len(r.Running) == silent+2 && answered == 2 && unheard == silent
	})
	view.Status(&out, view.Style{}, r, true, false, a.hint)
	said := out.String()
	for text, times := range map[string]int{
		"does not answer: no worker polls for it":                       silent,
		"40000 ran, 185 running, 9812 waiting, 3 failed":                2,
		"RUNNING  step.command.s[":                                      2 * 5,
		"RUNNING  and 180 more: redsi status --run 20260202T000000Z-bb": 1,
		"FAILED  step.command.s[":                                       2 * 3,
		", priority ":                                                   1,
	} {
		testkit.Is(t, strings.Count(said, text), times, text, said)
	}
	open, err := drive.ListOpen(t.Context(), c)
	testkit.None(t, err)
	testkit.ErrSays(t, testkit.Err(a.Named(t.Context(), conn, open, "20260303")), "could be reproduce-20260303")
	for id, want := range map[string]string{"20260101": "reproduce-20260101T000000Z-aa", "20260202": "by-hand", "by-h": "by-hand"} {
		found, err := a.Named(t.Context(), conn, open, id)
		testkit.That(t, err == nil && found != nil && found.Execution.WorkflowId == want, id, "is", found, err)
	}
}

// TestEndedRuns: so many of the newest runs, from their records, but those of other
// projects and what is damaged.
func TestEndedRuns(t *testing.T) {
	store := mem.New()
	for i := range 40 {
		rec := runs.Record{RunID: fmt.Sprintf("20260101T0000%02dZ", i), Pipeline: "p.hcl", Counts: map[runs.Status]int{runs.Ran: 1},
			Steps: []runs.Step{{Address: "step.a.b", Outcome: runs.Ran, Key: artifacts.Digest{1}}}}
		if i%4 == 0 {
			rec.Steps[0].Outcome, rec.Steps[0].Error, rec.Counts = runs.Failed, "it broke", map[runs.Status]int{runs.Failed: 1}
		}
		testkit.None(t, runs.Write(t.Context(), store, rec))
	}
	testkit.None(t, store.Records.Put(t.Context(), artifacts.RunsPrefix+"20260101T000039Z", []byte("{")))
	a := newApp(&session.Session{Log: slog.New(slog.DiscardHandler), File: "none.hcl"}, nil, nil)
	for most, want := range map[int]int{0: 0, 1: 1, 20: 20, 100: 39} {
		ended, err := a.EndedRuns(t.Context(), store, most)
		if err != nil || len(ended) != want {
			t.Fatalf("of %d: %d, %v", most, len(ended), err)
		}
		for i, x := range ended {
			testkit.Is(t, x.RunID, fmt.Sprintf("20260101T0000%02dZ", 38-i), i)
			if failed := (38-i)%4 == 0; failed != (len(x.Failed) == 1) || failed != (x.Counts[runs.Failed] == 1) {
				t.Errorf("%+v", x)
			}
		}
	}
}
