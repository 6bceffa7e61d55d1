package activities

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/cores"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/internal/host/telemetry"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Activities is what a worker runs.
type Activities struct {
	Store    *artifacts.Resolver
	Registry *step.Registry
	Log      *slog.Logger
	Client   client.Client      // to tell runs of a batch's steps before the batch ends; nil: they are told at its end
	Secrets  map[string]string  // sensitive variables that this process was given; never kept or sent
	CacheDir string             // verified local copies of remote blobs
	Leases   *lease.Keeper      // of the store
	Cores    *cores.Cores       // of this process; nil: all for each step
	Room     *capacity.Pool     // what this worker has for steps; nil: everything, and the cards that they name
	Models   *compute.Pool      // processes that compute what this process cannot; nil: none
	Usage    *usage.Meter       // of this process; nil: only what programs and the store report
	Scratch  step.Scratch       // folders that steps work in
	Features workflows.Features // what the server can do
	Env      map[string]string  // recorded with every result: revision, libtorch, host

	Telemetry *telemetry.Telemetry // nil: none

	// Open loads a pipeline file as `redsi run` would, with the pins of its lock file, and names the lock file.
	Open func(ctx context.Context, file string, vars map[string]string, targets []string) (p *plan.Plan, lock string, err error)

	// Resolve resolves some steps of a plan that has grown, as `redsi run` would beside the lock file; "": this
	// process's own.
	Resolve func(ctx context.Context, p *plan.Plan, steps []int, lock string) error

	// Beside returns the options by which a pipeline that lies here reads the files beside it.
	Beside func(context.Context) pipeline.Options

	// Fits, if set, reports whether this worker has time for work of that length.
	Fits func(took time.Duration) bool

	// Told, if set, reports that a batch system has told this process to end, and maybe the programs of its steps:
	// results from then on do not count, as a script may go on after one of its commands was ended.
	Told func() bool

	// OnWait, if set, is told that an activity of a queue waits for room, until over is called.
	OnWait func(queue string) (over func())

	// OnNoCard, if set, is told why there is no card when a step that may have a card computes without.
	OnNoCard func(why string)

	// OnlyWorker says that no other worker takes steps that do not fit into Room.
	OnlyWorker bool

	// Lacks, if set, is why this worker leaves the work of Models to others.
	Lacks error

	// Forget, if set, drops the remembered checksum of a local file.
	Forget func(path string) error

	// Accept are the folders whose pipeline files workflows may name; none: no file.
	Accept []string

	mu      sync.Mutex
	reading chan struct{} // is closed when the reading of a plan has ended; nil: none is being read
	plans   map[artifacts.Digest]*plan.Plan
	kept    int // bytes of plans
}

// Named returns all activities, by the names under which workflows call them.
func (a *Activities) Named() map[string]any {
	return map[string]any{
		workflows.LoadActivity:    tried(a, a.Load),
		workflows.GrowActivity:    tried(a, a.Grow),
		workflows.PrepareActivity: tried(a, a.Prepare),
		workflows.SplitActivity:   tried(a, a.Split),
		workflows.DoActivity:      a.Do,
		workflows.ExecuteActivity: a.Execute,
		workflows.RestActivity:    unanswered(a, a.Rest),
		workflows.JournalActivity: unanswered(a, a.Journal),
		workflows.CloseActivity:   unanswered(a, a.Close),
		workflows.StashActivity:   tried(a, a.Stash),
		workflows.PageActivity:    tried(a, a.Page),
		workflows.ReleaseActivity: tried(a, a.Release),
	}
}

// tried makes a function an activity, each call of which is an attempt.
func tried[Q, R any](a *Activities, do func(context.Context, Q) (R, error)) func(context.Context, Q) (R, error) {
	return func(ctx context.Context, req Q) (R, error) {
		return attempt(ctx, a, func(ctx context.Context) (R, error) { return do(ctx, req) })
	}
}

// unanswered is tried for functions that return only an error.
func unanswered[Q any](a *Activities, do func(context.Context, Q) error) func(context.Context, Q) error {
	return func(ctx context.Context, req Q) error {
		_, err := attempt(ctx, a, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx, req) })
		return err
	}
}

// heartbeatEvery is well inside the workflows' heartbeat timeout. Each beat has the progress; the SDK drops beats
// that come too fast.
const heartbeatEvery = time.Second

// attempt does the work of an activity. Until that returns, heartbeats tell the server that the worker lives, the
// first after heartbeatEvery, as the server counts from the activity's start. A panic, our own bug, is an error, and
// failure gives errors the types that the server knows.
func attempt[T any](ctx context.Context, a *Activities, do func(context.Context) (T, error)) (T, error) {
	p := &pulse{ctx: ctx, quit: make(chan struct{})}
	var beats sync.WaitGroup
	if activity.IsActivity(ctx) {
		var before beat
		_ = activity.GetHeartbeatDetails(ctx, &before) // there may be none, or another version's
		p.failed.Store(before.Failed)
		beats.Go(p.beat)
	}
	ctx = context.WithValue(ctx, failedKey{}, &p.failed)
	defer func() {
		close(p.quit)
		beats.Wait() // no heartbeat of this attempt comes after its end
		if activity.IsActivity(ctx) && p.failed.Load() > 0 {
			p.record() // the SDK sends it before the error
		}
	}()
	var out T
	err := stepio.Guard(func() (err error) {
		out, err = do(step.WithReporter(ctx, p.report))
		return err
	})
	return out, a.failure(ctx, err)
}

// pulse shows that an activity is alive, and how far it is.
type pulse struct {
	ctx  context.Context
	quit chan struct{}

	failed atomic.Int32                  // attempts so far
	last   atomic.Pointer[step.Progress] // what the next beat says; nil: nothing
}

// beat is the detail of a heartbeat: for people, how far the step is; for the next attempt, how many have failed.
type beat struct {
	*step.Progress
	Failed int32 `json:"failed,omitempty"`
}

// beat sends heartbeats until the activity ends, whether or not it reports progress.
func (p *pulse) beat() {
	t := time.NewTicker(heartbeatEvery)
	defer t.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-p.ctx.Done():
			return
		case <-t.C:
		}
		p.record()
	}
}

func (p *pulse) record() { activity.RecordHeartbeat(p.ctx, beat{p.last.Load(), p.failed.Load()}) }

// report sets the progress that the next beat has.
func (p *pulse) report(x step.Progress) {
	x.Note = bounded(x.Note, maxNote)
	p.last.Store(&x)
}
