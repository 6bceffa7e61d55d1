package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/devserver/devservertest"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/host/telemetry"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

var server *devservertest.OwnServer

var quiet = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

func TestMain(m *testing.M) {
	program, err := devserver.Find()
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests need a real Temporal server; run them by `make test`:", err)
		os.Exit(1)
	}
	server, err = devservertest.Start(context.Background(), devserver.Options{Program: program, SearchAttributes: workflows.SearchAttributes()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

// bench is a worker with kinds that count what they do.
type bench struct {
	t     *testing.T
	c     client.Client
	store artifacts.Store
	reg   *step.Registry
	queue *worker.Worker
	slots int
	codec payload.Codec
	shown *telemetry.Telemetry

	ran     sync.Map // text -> *atomic.Int64
	hold    chan struct{}
	held    chan string
	fail    atomic.Pointer[func(text string) error]
	waiting chan string // if set, is told of steps that wait until they fit
	gave    sync.Map    // text -> step.Granted, of its last try
}

// textConfig is a kind whose output is its text after its inputs.
type textConfig struct {
	Text  string      `hcl:"text" help:"what to write"`
	After step.Inputs `hcl:"after,optional" help:"what to write first"`
	Split int         `hcl:"split,optional" help:"cut into that many parts"`
	Hold  bool        `hcl:"hold,optional" help:"wait to be released"`
	Saves bool        `hcl:"saves,optional" help:"keep a checkpoint, and continue from it"`
	Last  int         `hcl:"last,optional" help:"write only that many bytes of the end"`
}

// treeConfig is a kind whose output is files with their texts.
type treeConfig struct {
	Files map[string]string `hcl:"files" help:"texts by name"`
	After step.Inputs       `hcl:"after,optional" help:"what to wait for"`
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return newBenchOf(t, 8)
}

// newBenchOf is a bench whose worker does so many steps at a time.
func newBenchOf(t *testing.T, slots int) *bench {
	t.Helper()
	b := idleBench(t, slots)
	b.startWorker()
	return b
}

// idleBench is one whose worker is not started yet.
func idleBench(t *testing.T, slots int) *bench {
	t.Helper()
	return idleBenchOf(t, slots, payload.Codec{}, nil)
}

// idleBenchOf is one whose client and worker have a codec, and tell what they do.
func idleBenchOf(t *testing.T, slots int, codec payload.Codec, shown *telemetry.Telemetry) *bench {
	t.Helper()
	opts, err := server.ClientOptions()
	testkit.None(t, err)
	return benchAt(t, opts, slots, codec, shown)
}

// benchAt is one on a server that clients of these options reach.
func benchAt(t *testing.T, opts client.Options, slots int, codec payload.Codec, shown *telemetry.Telemetry) *bench {
	t.Helper()
	b := &bench{t: t, slots: slots, codec: codec, shown: shown, store: mem.New(), hold: make(chan struct{}), held: make(chan string, 100)}
	outputs := []step.Output{{Name: "out", Type: "text", Help: "text"}}
	part := step.DefinePart(step.Kind[textConfig]{Name: "part", Version: 1, Doc: "A part.", Outputs: outputs, Run: b.write})
	whole := step.Kind[textConfig]{Name: "text", Version: 1, Doc: "Text.", Outputs: outputs, Run: b.write}
	short := step.Kind[textConfig]{Name: "short", Version: 1, Doc: "Text, inline.", Outputs: outputs, Inline: true, Run: b.write}
	split := step.Kind[textConfig]{Name: "split", Version: 1, Doc: "Text in parts.", Outputs: outputs, Parts: []step.Spec{part.Spec},
		Split: func(_ context.Context, _ *step.IO, c textConfig) ([]step.Task, error) {
			var tasks []step.Task
			for i := range c.Split {
				task, err := part.Task(textConfig{Text: fmt.Sprintf("%s%d ", c.Text, i), After: c.After})
				if err != nil {
					return nil, err
				}
				tasks = append(tasks, task)
			}
			return tasks, nil
		},
		Run: func(ctx context.Context, x *step.IO, c textConfig) error {
			for _, p := range x.Parts() {
				c.After = append(c.After, step.In(p.Outputs["out"]))
			}
			c.Text = ""
			return b.write(ctx, x, c)
		}}
	tree := step.Kind[treeConfig]{Name: "tree", Version: 1, Doc: "Files.", Inline: true, Run: b.writeFiles,
		Outputs: []step.Output{{Name: "out", Type: "files", Tree: true, Help: "files"}}}
	b.reg = step.NewRegistry(step.Define(whole), step.Define(short), step.Define(split), step.Define(tree))

	opts.Identity, opts.Logger = "test", quiet
	opts.DataConverter, opts.FailureConverter = codec.DataConverter(), workflows.Failures(codec.FailureConverter())
	var err error
	if b.c, err = client.Dial(shown.Client(opts)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.c.Close)
	return b
}

func (b *bench) activities() *activities.Activities {
	return &activities.Activities{Store: artifacts.Alone(b.store), Leases: lease.New(b.store.Leases, slog.New(slog.DiscardHandler)), Registry: b.reg, Log: slog.New(slog.DiscardHandler), Client: b.c,
		CacheDir: b.t.TempDir(), Scratch: scratch.In(b.t.TempDir()), Features: workflows.Features{SearchAttributes: true}, Telemetry: b.shown,
		Resolve: func(context.Context, *plan.Plan, []int, string) error { return nil }}
}

func (b *bench) startWorker() {
	b.startWorkerWith(b.activities(), worker.Options{})
}

// startWorkerWith starts one with other options than its queue and slots.
func (b *bench) startWorkerWith(a *activities.Activities, o worker.Options) {
	b.t.Helper()
	o.Queues, o.CPU = []string{b.t.Name()}, b.slots
	b.queue = worker.New(b.c, a, o)
	if b.waiting != nil {
		onWait := a.OnWait
		a.OnWait = func(queue string) func() {
			b.waiting <- queue
			return onWait(queue)
		}
	}
	testkit.None(b.t, b.queue.Start())
	b.t.Cleanup(b.queue.Stop)
}

func (b *bench) write(ctx context.Context, x *step.IO, c textConfig) error {
	n, _ := b.ran.LoadOrStore(c.Text, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
	b.gave.Store(c.Text, x.Granted)
	if f := b.fail.Load(); f != nil {
		if err := (*f)(c.Text); err != nil {
			return err
		}
	}
	said := c.Text
	if c.Saves {
		saved := x.Checkpoints()
		if ok, err := saved.Latest(ctx, func(int64, map[string]artifacts.File) error { return nil }); err != nil {
			return err
		} else if ok {
			said = "continued " + said
		} else if f, err := saved.Put(ctx, "state", strings.NewReader(c.Text)); err != nil {
			return err
		} else if err := saved.Save(ctx, 1, map[string]artifacts.File{"state": f}); err != nil {
			return err
		}
	}
	if c.Hold {
		b.held <- said
		select {
		case <-b.hold:
		case <-ctx.Done():
			b.held <- "cancelled " + c.Text
			return ctx.Err()
		}
	}
	text := ""
	for _, in := range c.After {
		r, err := x.Open(in)
		if err != nil {
			return err
		}
		t, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		text += string(t)
	}
	text += c.Text
	if c.Last > 0 && len(text) > c.Last {
		text = text[len(text)-c.Last:]
	}
	w, err := x.Create("out")
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	return w.Close()
}

func (b *bench) writeFiles(ctx context.Context, x *step.IO, c treeConfig) error {
	for name, text := range c.Files {
		f, err := x.PutFile(ctx, name, strings.NewReader(text))
		if err == nil {
			err = x.LinkFile("out", f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) count(text string) int64 {
	n, ok := b.ran.Load(text)
	if !ok {
		return 0
	}
	return n.(*atomic.Int64).Load()
}

// plan loads HCL and stores its plan.
func (b *bench) plan(src string) (*plan.Plan, artifacts.Digest) {
	b.t.Helper()
	p, ds := pipeline.Load(map[string][]byte{"t.hcl": []byte(src)}, pipeline.Options{Registry: b.reg})
	if ds.HasErrors() {
		var text stringWriter
		_ = ds.Write(&text, pipeline.Style{Width: 100})
		b.t.Fatalf("%s", text)
	}
	pl, err := plan.Build("t.hcl", p, b.reg, nil)
	testkit.None(b.t, err)
	d, err := plan.Store(context.Background(), b.store.Blobs, pl)
	testkit.None(b.t, err)
	return pl, d
}

type stringWriter []byte

func (s *stringWriter) Write(b []byte) (int, error) { *s = append(*s, b...); return len(b), nil }

// start begins a run; its result is waited for with Get.
func (b *bench) start(src, id string) client.WorkflowRun {
	b.t.Helper()
	_, d := b.plan(src)
	return b.startPlan(d, id)
}

// startPlan is start for a stored plan.
func (b *bench) startPlan(d artifacts.Digest, id string) client.WorkflowRun {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	w, err := b.c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: b.t.Name() + "/" + id, TaskQueue: b.t.Name(), RetryPolicy: workflows.RunAgain()},
		workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "t.hcl", Plan: &d, RunID: b.t.Name() + id})
	testkit.None(b.t, err)
	return w
}

// run runs a pipeline and returns hits and runs.
func (b *bench) run(src, id string) (hit, ran int) {
	b.t.Helper()
	r, err := b.wait(b.start(src, id))
	testkit.None(b.t, err)
	return r.Hit, r.Ran
}

// fails has the steps of a text fail for good.
func (b *bench) fails(text, why string) {
	fail := func(of string) error {
		if of == text {
			return step.Permanent(errors.New(why))
		}
		return nil
	}
	b.fail.Store(&fail)
}

// text is the output of a step, read back from the store.
func (b *bench) text(src, address string) string {
	b.t.Helper()
	res := b.result(src, address)
	r, err := b.store.Blobs.Open(context.Background(), res.Outputs["out"].Digest)
	testkit.None(b.t, err)
	defer r.Close()
	t, err := io.ReadAll(r)
	testkit.None(b.t, err)
	return string(t)
}

func (b *bench) result(src, address string) *artifacts.Result {
	b.t.Helper()
	pl, _ := b.plan(src)
	v, err := pl.Follow(context.Background(), b.reg, func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return artifacts.LookupMany(ctx, artifacts.Alone(b.store), keys)
	}, plan.KeepAll, nil)
	testkit.None(b.t, err)
	for i, s := range pl.Steps {
		if s.Address == address && v.Items[i].Result != nil {
			return v.Items[i].Result
		}
	}
	b.t.Fatalf("%s has no result", address)
	return nil
}

func (b *bench) record(id string) runs.Record {
	b.t.Helper()
	raw, err := b.store.Records.Get(context.Background(), "runs/"+b.t.Name()+id)
	testkit.None(b.t, err)
	var rec runs.Record
	testkit.None(b.t, json.Unmarshal(raw, &rec))
	return rec
}

func (b *bench) wait(w client.WorkflowRun) (workflows.ReproduceResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var r workflows.ReproduceResult
	err := w.Get(ctx, &r)
	return r, err
}

// ends waits for a run, which must end well and have run so many steps.
func (b *bench) ends(w client.WorkflowRun, ran int) {
	b.t.Helper()
	if r, err := b.wait(w); err != nil || r.Ran != ran {
		b.t.Fatalf("%+v, %v; want %d steps to run", r, err, ran)
	}
}

// awaitActivity waits until one of some workflows is at an activity of a name, and returns which
// and what its heartbeat says, which must have the words.
func (b *bench) awaitActivity(name, words string, ids ...string) (id, note string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		for _, id := range ids {
			d, err := b.c.DescribeWorkflowExecution(ctx, id, "")
			if err != nil {
				continue // it has not started yet
			}
			for _, p := range d.GetPendingActivities() {
				var said step.Progress
				if beat := p.GetHeartbeatDetails().GetPayloads(); len(beat) > 0 && b.codec.DataConverter().FromPayload(beat[0], &said) != nil {
					continue
				}
				if p.GetActivityType().GetName() == name && p.GetState() == enums.PENDING_ACTIVITY_STATE_STARTED && strings.Contains(said.Note, words) {
					return id, said.Note
				}
			}
		}
	}
	b.t.Fatalf("none of %q is at an activity %s that says %q", ids, name, words)
	return "", ""
}

// awaitRest waits until one of two runs waits for the other's step, and returns it, the other,
// and what it says.
func (b *bench) awaitRest(x, y client.WorkflowRun) (rests, works client.WorkflowRun, note string) {
	b.t.Helper()
	id, note := b.awaitActivity(workflows.RestActivity, "waiting for", x.GetID(), y.GetID())
	if id == x.GetID() {
		return x, y, note
	}
	return y, x, note
}

// awaitState waits until the state of one of the runs is as wanted.
func (b *bench) awaitState(wanted func(workflows.State) bool, runs ...client.WorkflowRun) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var last workflows.State
	var lastErr error
	for ctx.Err() == nil {
		for _, r := range runs {
			s, err := workflows.Ask[workflows.State](ctx, b.c, r.GetID(), workflows.StateQuery)
			if err == nil && wanted(s) {
				return
			}
			last, lastErr = s, err // an error: it has not started yet
		}
	}
	b.t.Fatalf("no run came to that; the state of the last one is %+v, %v", last, lastErr)
}

// steps are the states of a run's steps.
func (b *bench) steps(w client.WorkflowRun) []workflows.StepState {
	b.t.Helper()
	c, err := workflows.Ask[workflows.Changes](b.t.Context(), b.c, w.GetID(), workflows.ChangesQuery, 0)
	if err != nil || c.More {
		b.t.Fatal(err, c.More)
	}
	return c.Steps
}

// next is what the next held step says. It fails instead of waiting for ever.
func (b *bench) next() string {
	b.t.Helper()
	select {
	case text := <-b.held:
		return text
	case <-time.After(2 * time.Minute):
		b.t.Fatal("no step was started or stopped for two minutes")
		return ""
	}
}

// says waits for the next held step, which must say a text.
func (b *bench) says(text string) {
	b.t.Helper()
	if got := b.next(); got != text {
		b.t.Fatalf("the next step says %q, not %q", got, text)
	}
}
