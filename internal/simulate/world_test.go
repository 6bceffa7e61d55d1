package simulate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// world is what a script is played in.
type world struct {
	script  script
	tr      *trace
	shelf   *shelf
	servers []*server
	reg     *step.Registry // of who starts runs
	runs    []*ran         // by number

	mu      sync.Mutex
	place   map[[2]int]*process // those that live, by server and number
	all     []*process          // that there ever were
	tries   map[string]int      // of work, by its name
	trying  []*try
	unhandy []unhandy
}

// Virtual times: of a schedule at most, for what is left to go, and until the last goroutine ends.
const (
	longest   = 6 * time.Hour
	aftermath = 3 * time.Minute
	goneBy    = time.Minute
)

// play plays a script, and says what came of it. Histories are replayed outside of virtual time.
func play(t *testing.T, s script, all bool) (out observed, tr *trace) {
	defer func() {
		if p := recover(); p != nil { // goroutines that never end
			out.troubles = append(out.troubles, fmt.Sprint("the world does not end: ", p))
		}
		replay(&out)
	}()
	synctest.Test(t, func(*testing.T) {
		tr = &trace{all: all, began: time.Now()}
		newWorld(s, tr).play(&out)
	})
	return out, tr
}

func newWorld(s script, tr *trace) *world {
	w := &world{script: s, tr: tr, shelf: newShelf(s.Seed, tr, s.Faults), reg: kinds(nil), place: map[[2]int]*process{}, tries: map[string]int{}}
	asked := map[string]int{}
	for i := range s.Servers {
		srv := newServer(s.Seed, i)
		srv.trace = tr.note
		strikes := func(fault string) func(string) bool {
			return func(what string) bool {
				w.shelf.mu.Lock()
				what = fmt.Sprint(fault, i, what)
				asked[what]++
				n := asked[what]
				w.shelf.mu.Unlock()
				return w.shelf.strikes(fault, s.Seed.of(what, n))
			}
		}
		srv.loseTask, srv.loseAnswer, srv.evict = strikes("lose-task"), strikes("redeliver"), strikes("evict")
		for _, f := range s.Faults {
			if f.What == "continue" {
				srv.continueAfter = int(f.Rate)
			}
		}
		w.servers = append(w.servers, srv)
	}
	return w
}

// play does the acts at their times, waits for the runs, and looks at what is left.
func (w *world) play(out *observed) {
	ctx, over := context.WithTimeout(context.Background(), longest)
	defer over()
	for server := range w.script.Servers {
		for number := range w.script.Workers {
			w.start(server, number)
		}
	}
	var acts, runs sync.WaitGroup
	later := func(all *sync.WaitGroup, at time.Duration, do func()) {
		all.Go(func() {
			if readers.Pause(ctx, at) == nil {
				do()
			}
		})
	}
	for _, a := range w.script.Acts {
		at := a.At + w.script.Seed.of("act", a.At, a.Do).span(0, time.Millisecond) // no two fall together
		if n := len(w.runs); a.Do == "run" {
			w.runs = append(w.runs, &ran{act: a})
			later(&runs, at, func() { w.run(ctx, w.runs[n], n) })
		} else {
			later(&acts, at, func() { w.act(ctx, a) })
		}
	}
	for _, f := range w.script.Faults {
		if f.What == "damage" || f.What == "lose-blob" {
			later(&acts, f.At, func() { w.shelf.harm(w.script.Seed.of("harm", f.At), f.What) })
		}
	}
	runs.Wait()
	out.stuck = ctx.Err() != nil
	over()
	acts.Wait()
	w.tr.tell("all runs have ended; what went wrong is mended")
	w.shelf.mu.Lock()
	w.shelf.healed = true
	w.shelf.mu.Unlock()
	time.Sleep(aftermath)
	w.look(out)
	w.end()
	time.Sleep(goneBy)
}

// act does one that is not a run.
func (w *world) act(ctx context.Context, a act) {
	at := [2]int{a.Server, a.Number}
	w.mu.Lock()
	p := w.place[at]
	if a.Do == "kill" || a.Do == "stop" {
		delete(w.place, at)
		w.counted(a.Server)
	}
	w.mu.Unlock()
	switch {
	case a.Do == "cancel":
		w.cancel(ctx, a.Number)
	case a.Do == "gc":
		w.gc(ctx, a)
	case a.Do == "start" && p == nil:
		w.start(a.Server, a.Number)
	case p == nil:
	case a.Do == "freeze":
		p.freeze(a.For)
	case a.Do == "kill":
		p.kill()
	case a.Do == "stop":
		w.tr.tell("%s is to stop", p.view.who)
		p.worker.Stop()
		w.tr.tell("%s has stopped", p.view.who)
	}
}

func (w *world) start(server, number int) {
	w.mu.Lock()
	p := w.newProcess(server, number)
	w.place[[2]int{server, number}] = p
	w.all = append(w.all, p)
	w.counted(server)
	w.mu.Unlock()
	w.tr.tell("%s starts", p.view.who)
	if err := p.worker.Start(); err != nil {
		panic(err)
	}
}

// counted notes when a server has no process, and when it has one again. It is called locked.
func (w *world) counted(server int) {
	lives := slices.ContainsFunc(slices.Collect(maps.Keys(w.place)), func(at [2]int) bool { return at[0] == server })
	i := slices.IndexFunc(w.unhandy, func(u unhandy) bool { return u.server == server && u.to == 0 })
	if lives && i >= 0 {
		w.unhandy[i].to = w.tr.now()
	} else if !lives && i < 0 {
		w.unhandy = append(w.unhandy, unhandy{server: server, from: w.tr.now()})
	}
}

const killed = "killed-" // begins the id of a run that was

// run is `redsi run` on a cluster, by somebody who tries again when the store does not answer.
func (w *world) run(ctx context.Context, r *ran, n int) {
	who := fmt.Sprint("run ", n)
	_, store := w.shelf.view(who)
	c := w.servers[r.Server].client(who)
	defer func() { r.ended = w.tr.now(); c.Close() }()
	r.id = workflows.NewRunID(time.Now(), fmt.Sprintf("%08x", n+1))
	p, ds := pipeline.Load(map[string][]byte{"t.hcl": []byte(w.script.Pipeline.hcl(r.Edition))}, pipeline.Options{Registry: w.reg})
	if ds.HasErrors() {
		panic(ds.Err())
	}
	in, err := w.prepare(ctx, store, p, r)
	for ; err != nil; in, err = w.prepare(ctx, store, p, r) {
		r.err = err
		w.tr.tell("%s cannot begin: %v", who, r.err)
		if _, invalid := errors.AsType[*pipeline.Invalid](r.err); invalid || readers.Pause(ctx, 5*time.Second) != nil {
			return
		}
		if _, bad := errors.AsType[*artifacts.IntegrityError](r.err); bad { // and so it says
			_, err := artifacts.Check(ctx, store, artifacts.CheckOptions{Repair: true})
			w.tr.tell("verify --repair: %v", err)
		}
	}
	if r.err = nil; in == nil {
		w.tr.tell("%s has all results already", who)
		return
	}
	if r.Killed { // all that is left of that run
		err := artifacts.PutJSON(ctx, w.shelf.base.Records, artifacts.OpenRunPrefix+killed+r.id,
			map[string]any{"format": "redsi-open-run/1", "run_id": killed + r.id, "pipeline": "t.hcl", "plan": r.plan, "started": time.Now()})
		w.tr.tell("an earlier run of the plan of %s was killed: %v", who, err)
	}
	wf, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: workflows.ReproduceWorkflowID(r.id), TaskQueue: workflows.TaskQueue,
		RetryPolicy: workflows.RunAgain(), WorkflowTaskTimeout: workflows.TaskTimeout}, workflows.ReproduceWorkflow, *in)
	if err != nil {
		panic(err)
	}
	r.began = w.tr.now()
	w.tr.tell("%s begins: %s, edition %d", who, r.id, r.Edition)
	r.result = &workflows.ReproduceResult{}
	if r.err = wf.Get(ctx, r.result); ctx.Err() != nil {
		r.err = errors.New("it did not end")
	}
	if failed := workflows.ErrorOf(r.err); failed != nil {
		r.result = &failed.Result
	}
	w.tr.tell("%s ends: hit %d, ran %d, failed %d, skipped %d, cancelled %d, not started %d; %v", who, r.result.Hit, r.result.Ran, r.result.Failed, r.result.Skipped, r.result.Cancelled, r.result.NotStarted, r.err)
}

// prepare does what `redsi run` does before the workflow, see drive.Driver.Reproduce: nil if all is done.
func (w *world) prepare(ctx context.Context, store artifacts.Store, p *pipeline.Pipeline, r *ran) (*workflows.ReproduceInput, error) {
	build := func(p *pipeline.Pipeline) (*plan.Plan, error) { return plan.Build("t.hcl", p, w.reg, nil) }
	look := func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return artifacts.LookupKnown(ctx, store, keys)
	}
	follow := func(pl *plan.Plan, keep plan.Keep) (*plan.Preview, error) {
		return pl.Follow(ctx, w.reg, look, keep, store.Blobs.Open)
	}
	pl, err := build(p)
	if err != nil {
		panic(err)
	}
	if _, pl, err = (plan.Grower{Origin: p.Origin(), With: p.With, Plan: build, Follow: follow, Blobs: store.Blobs}).Grow(ctx, p, pl); err != nil {
		return nil, err
	}
	none := func(int, *plan.Item) bool { return false }
	v, err := follow(pl, none)
	if err == nil && r.SkipFailed {
		past, perr := journal.Read(ctx, w.reg, store, v, "")
		if perr != nil {
			return nil, perr
		}
		pl, _ = pl.Without(func(i int) bool { _, failed := past.Failed[i]; return failed })
		v, err = follow(pl, none)
	}
	if err != nil {
		return nil, err
	}
	if r.plan, err = activities.StorePlan(ctx, store.Blobs, pl); err != nil || v.Done() {
		return nil, err
	}
	hits, err := activities.PagesOf(ctx, store.Blobs, activities.HitsOf(v))
	return &workflows.ReproduceInput{Pipeline: pl.Pipeline, FailFast: r.FailFast, Plan: &r.plan, RunID: r.id, Hits: &hits}, err
}

// cancel is `redsi cancel` of an open run.
func (w *world) cancel(ctx context.Context, number int) {
	if number >= len(w.runs) || w.runs[number].began == 0 || w.runs[number].ended != 0 || w.runs[number].cancelled != 0 {
		return
	}
	r := w.runs[number]
	r.cancelled = w.tr.now()
	w.tr.tell("run %d is cancelled", number)
	c := w.servers[r.Server].client(fmt.Sprint("cancel ", number))
	defer c.Close()
	if err := c.CancelWorkflow(ctx, workflows.ReproduceWorkflowID(r.id), ""); err != nil {
		w.tr.tell("it cannot be: %v", err)
	}
}

// gc is `redsi gc`.
func (w *world) gc(ctx context.Context, a act) {
	_, store := w.shelf.view(fmt.Sprint("gc of ", a.At))
	g, err := artifacts.Collect(ctx, store, artifacts.GCOptions{Grace: a.For})
	w.tr.tell("gc with a grace of %s deletes %d results, %d blobs, %d leases; %d runs are open: %v", a.For, len(g.Results), len(g.Blobs), len(g.Leases), len(g.Open), err)
}

// look says what is there when all is over.
func (w *world) look(out *observed) {
	ctx := context.Background()
	out.script, out.store, out.stored, out.harmed, out.unhandy = w.script, w.shelf.left(), w.shelf.stored, w.shelf.harmed, w.unhandy
	for r := range w.shelf.base.Leases.List(ctx, "") { // of memory
		if w.shelf.holder[r.Name].killed() {
			r.Name += " (killed)"
		}
		out.leases = append(out.leases, r.Name)
	}
	for _, s := range w.servers {
		out.open, out.histories = append(out.open, s.open()...), append(out.histories, s.histories()...)
		out.troubles = append(out.troubles, slices.DeleteFunc(s.troubles, func(t string) bool { return strings.Contains(t, "a mistake of the kind") })...) // which a pipeline has
	}
	for _, h := range out.histories {
		out.longest = max(out.longest, len(h.Events))
		for _, e := range h.Events {
			out.largest = max(out.largest, proto.Size(e))
			w.tr.note("event %d %s %s", e.EventId, e.EventType, e.EventTime.AsTime())
		}
	}
	for _, r := range w.runs {
		if rec, err := activities.ReadRun(ctx, w.shelf.base, r.id); err == nil {
			r.record = rec
		} else if r.id != "" && !errors.Is(err, artifacts.ErrNotExist) {
			out.troubles = append(out.troubles, fmt.Sprintf("the record of run %s: %v", r.id, err))
		}
		out.runs = append(out.runs, *r)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.trying {
		out.work = append(out.work, x.work)
	}
}

// end ends all processes and servers: those that live hand back, and then all are dead.
func (w *world) end() {
	var all sync.WaitGroup
	for _, p := range w.place {
		all.Go(p.worker.Stop)
	}
	all.Wait()
	for _, p := range w.all {
		p.view.die()
	}
	close(w.shelf.over)
	for _, s := range w.servers {
		s.close()
	}
	for _, p := range w.all {
		all.Go(func() { p.worker.Stop(); p.client.Close() })
	}
	all.Wait()
}

// replay replays all histories with the workflow code as it is.
func replay(out *observed) {
	r, _ := sdk.NewWorkflowReplayerWithOptions(sdk.WorkflowReplayerOptions{DisableDeadlockDetection: true}) // which is by a real clock
	r.RegisterWorkflowWithOptions(workflows.Reproduce, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
	r.RegisterWorkflowWithOptions(workflows.Step, workflow.RegisterOptions{Name: workflows.StepWorkflow})
	for i, h := range out.histories {
		if err := r.ReplayWorkflowHistory(quietLog, h); err != nil {
			out.troubles = append(out.troubles, fmt.Sprintf("history %d, of %d events, does not replay: %v", i, len(h.Events), err))
		}
	}
}
