package simulate

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

// world is what a script is played in.
type world struct {
	*shelf
	*observed
	servers []*server
	reg     *step.Registry // of who starts runs

	mu     sync.Mutex
	place  map[[2]int]*process // those that live, by server and number
	all    []*process          // that there ever were
	tries  map[string]int      // of work, by its name
	trying []*work
}

// observed is what came of a script.
type observed struct {
	script    script
	runs      []ran
	work      []work
	store     artifacts.Store // as it was left, without its faults
	leases    []string        // that are left
	open      []string        // workflows that have not ended, "server 0: step/ab…"
	histories []*history.History
	longest   int                       // events of a history
	largest   int                       // bytes of a payload
	troubles  []string                  // panics, workflow tasks that failed, goroutines left over
	stuck     bool                      // the schedule did not end in its virtual time
	stored    []stored                  // what changed in the store, in order
	harmed    map[artifacts.Digest]bool // blobs that faults damaged or took
}

// ran is what came of a run.
type ran struct {
	act
	id                      string
	plan                    artifacts.Digest // that it began with
	began, ended, cancelled time.Duration    // after the start; zero: it has not
	result                  *workflows.ReproduceResult
	err                     error
	record                  *runs.Record // nil: there is none
}

const longest = 6 * time.Hour // of virtual time that a schedule may take

// play plays a script, and says what came of it. Histories are replayed outside of virtual time, with the workflow code as it is.
func play(t *testing.T, s script, all bool) (out observed, tr *trace) {
	defer func() {
		if p := recover(); p != nil { // goroutines that never end
			if out.store.Records == nil { // nobody has looked
				out = observed{}
			}
			out.troubles = append(out.troubles, fmt.Sprint("the world does not end: ", p))
		}
		r, _ := sdk.NewWorkflowReplayerWithOptions(sdk.WorkflowReplayerOptions{DisableDeadlockDetection: true}) // which is by a real clock
		r.RegisterWorkflowWithOptions(workflows.Reproduce, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
		r.RegisterWorkflowWithOptions(workflows.Step, workflow.RegisterOptions{Name: workflows.StepWorkflow})
		for i, h := range out.histories {
			if err := r.ReplayWorkflowHistory(quietLog, h); err != nil {
				out.troubles = append(out.troubles, fmt.Sprintf("history %d, of %d events, does not replay: %v", i, len(h.Events), err))
			}
		}
	}()
	synctest.Test(t, func(*testing.T) {
		tr = &trace{all: all, began: time.Now()}
		out.script = s
		newWorld(&out, tr).play()
	})
	return out, tr
}

func newWorld(out *observed, tr *trace) *world {
	s := out.script
	w := &world{observed: out, reg: kinds(nil), place: map[[2]int]*process{}, tries: map[string]int{}}
	w.shelf = &shelf{d: s.Seed, tr: tr, mem: mem.New(), over: make(chan struct{}), faults: s.Faults,
		counts: map[string]int{}, harmed: map[artifacts.Digest]bool{}, bad: map[artifacts.Digest]bool{}}
	w.left = storetest.Hooked(w.mem, w.watch)
	for i := range s.Servers {
		srv := newServer(s.Seed, i)
		strikes := func(fault string) func(string) bool {
			return func(what string) bool {
				what = fmt.Sprint(fault, i, what)
				return w.strikes(fault, s.Seed.of(what, w.nth(what)))
			}
		}
		srv.trace, srv.loseTask, srv.loseAnswer, srv.evict = tr.note, strikes("lose-task"), strikes("redeliver"), strikes("evict")
		for _, f := range s.Faults {
			if f.What == "continue" {
				srv.continueAfter = int(f.Rate)
			}
		}
		w.servers = append(w.servers, srv)
	}
	return w
}

// play does the acts at their times, waits for the runs, looks at what is left, and ends all processes and servers.
func (w *world) play() {
	ctx, over := context.WithTimeout(context.Background(), longest)
	defer over()
	for server := range w.script.Servers {
		for number := range w.script.Workers {
			w.start(server, number)
		}
	}
	var acts, runs, ends sync.WaitGroup
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
			w.runs = append(w.runs, ran{act: a})
			later(&runs, at, func() { w.run(ctx, &w.runs[n], n) })
		} else {
			later(&acts, at, func() { w.act(ctx, a) })
		}
	}
	for _, f := range w.script.Faults {
		if f.What == "damage" || f.What == "lose-blob" {
			later(&acts, f.At, func() { w.harm(w.script.Seed.of("harm", f.At), f.What) })
		}
	}
	runs.Wait()
	w.stuck = ctx.Err() != nil
	over()
	acts.Wait()
	w.tr.tell("all runs have ended; what went wrong is mended")
	w.shelf.mu.Lock()
	w.faults = nil
	w.shelf.mu.Unlock()
	time.Sleep(3 * time.Minute) // for what is left to go
	w.look()
	for _, p := range w.place { // they hand back
		ends.Go(p.worker.Stop)
	}
	ends.Wait()
	for _, p := range w.all {
		p.die()
	}
	close(w.over)
	for _, s := range w.servers {
		s.close()
	}
	for _, p := range w.all {
		ends.Go(func() { p.worker.Stop(); p.client.Close() })
	}
	ends.Wait()
	time.Sleep(time.Minute) // until the last goroutine ends
}

// act does one that is not a run, such as `redsi cancel` or `redsi gc`.
func (w *world) act(ctx context.Context, a act) {
	at := [2]int{a.Server, a.Number}
	w.mu.Lock()
	p := w.place[at]
	if a.Do == "kill" || a.Do == "stop" {
		delete(w.place, at)
	}
	w.mu.Unlock()
	switch {
	case a.Do == "cancel" && a.Number < len(w.runs) && w.runs[a.Number].began > 0 && w.runs[a.Number].ended+w.runs[a.Number].cancelled == 0:
		r := &w.runs[a.Number]
		r.cancelled = w.tr.now()
		w.tr.tell("run %d is cancelled", a.Number)
		c := w.servers[r.Server].client(fmt.Sprint("cancel ", a.Number))
		defer c.Close()
		if err := c.CancelWorkflow(ctx, workflows.ReproduceWorkflowID(r.id), ""); err != nil {
			w.tr.tell("it cannot be: %v", err)
		}
	case a.Do == "gc":
		_, store := w.view(fmt.Sprint("gc of ", a.At))
		g, err := artifacts.Collect(ctx, store, artifacts.GCOptions{Grace: a.For})
		w.tr.tell("gc with a grace of %s deletes %d results, %d blobs, %d leases; %d runs are open: %v",
			a.For, len(g.Results), len(g.Blobs), len(g.Leases), len(g.Open), err)
	case a.Do == "start" && p == nil:
		w.start(a.Server, a.Number)
	case p == nil:
	case a.Do == "freeze":
		w.tr.tell("%s stands still for %s", p.who, a.For)
		w.servers[a.Server].freeze(p.who, a.For)
		p.frozen.Store(int64(w.tr.now() + a.For))
	case a.Do == "kill": // its goroutines wait for the end of the world
		w.tr.tell("%s is killed", p.who)
		p.die()
		w.servers[a.Server].kill(p.who)
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, x := range w.trying {
			if x.by == p && x.how == "" {
				x.how, x.ended = "lost", w.tr.now()
			}
		}
	case a.Do == "stop":
		w.tr.tell("%s is to stop", p.who)
		p.worker.Stop()
		w.tr.tell("%s has stopped", p.who)
	}
}

const killed = "killed-" // begins the id of a run that was

// run is `redsi run` on a cluster, by somebody who tries again when the store does not answer.
func (w *world) run(ctx context.Context, r *ran, n int) {
	who := fmt.Sprint("run ", n)
	_, store := w.view(who)
	c := w.servers[r.Server].client(who)
	defer func() { r.ended = w.tr.now(); c.Close() }()
	r.id = workflows.NewRunID(time.Now(), fmt.Sprintf("%08x", n+1))
	p, ds := pipeline.Load(map[string][]byte{"t.hcl": []byte(w.script.Pipeline.hcl(r.Edition))}, pipeline.Options{Registry: w.reg})
	if ds.HasErrors() {
		panic(ds.Err())
	}
	var in *workflows.ReproduceInput
	for in, r.err = w.prepare(ctx, store, p, r); r.err != nil; in, r.err = w.prepare(ctx, store, p, r) {
		w.tr.tell("%s cannot begin: %v", who, r.err)
		if _, invalid := errors.AsType[*pipeline.Invalid](r.err); invalid || readers.Pause(ctx, 5*time.Second) != nil {
			return
		}
		if _, bad := errors.AsType[*artifacts.IntegrityError](r.err); bad { // and so it says
			_, err := artifacts.Check(ctx, store, artifacts.CheckOptions{Repair: true})
			w.tr.tell("verify --repair: %v", err)
		}
	}
	if in == nil {
		w.tr.tell("%s has all results already", who)
		return
	}
	if r.Killed { // all that is left of that run
		err := artifacts.PutJSON(ctx, w.mem.Records, artifacts.OpenRunPrefix+killed+r.id,
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
	of := &workflows.ReproduceResult{}
	if r.err = wf.Get(ctx, of); ctx.Err() != nil {
		r.err = errors.New("it did not end")
	}
	if failed := workflows.ErrorOf(r.err); failed != nil {
		of = &failed.Result
	}
	r.result = of
	w.tr.tell("%s ends: hit %d, ran %d, failed %d, skipped %d, cancelled %d, not started %d; %v",
		who, of.Hit, of.Ran, of.Failed, of.Skipped, of.Cancelled, of.NotStarted, r.err)
}

// prepare does what `redsi run` does before the workflow, see drive.Driver.Reproduce: nil if all is done.
func (w *world) prepare(ctx context.Context, store artifacts.Store, p *pipeline.Pipeline, r *ran) (*workflows.ReproduceInput, error) {
	build := func(p *pipeline.Pipeline) (*plan.Plan, error) { return plan.Build("t.hcl", p, w.reg, nil) }
	follow := func(pl *plan.Plan, keep plan.Keep) (*plan.Preview, error) {
		return pl.Follow(ctx, w.reg, func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
			return artifacts.LookupKnown(ctx, artifacts.Alone(store), keys)
		}, keep, store.Blobs.Open)
	}
	pl, err := build(p)
	if err != nil {
		panic(err)
	}
	if _, pl, err = (plan.Grower{Origin: p.Origin(), With: p.With, Plan: build, Follow: follow, Store: artifacts.Alone(store)}).Grow(ctx, p, pl); err != nil {
		return nil, err
	}
	none := func(int, *plan.Item) bool { return false }
	v, err := follow(pl, none)
	if err == nil && r.SkipFailed {
		past, perr := journal.Read(ctx, w.reg, store, v, "")
		if err = perr; err == nil {
			pl, _ = pl.Without(w.reg, func(i int) bool { _, failed := past.Failed[i]; return failed })
			v, err = follow(pl, none)
		}
	}
	if err == nil {
		r.plan, err = plan.Store(ctx, store.Blobs, pl)
	}
	if err != nil || v.Done() {
		return nil, err
	}
	hits, err := activities.PagesOf(ctx, store.Blobs, activities.HitsOf(v))
	return &workflows.ReproduceInput{Pipeline: pl.Pipeline, FailFast: r.FailFast, Plan: &r.plan, RunID: r.id, Hits: &hits}, err
}

// look says what is there when all is over.
func (w *world) look() {
	ctx, out := context.Background(), w.observed
	out.store, out.stored, out.harmed = w.left, w.shelf.stored, w.shelf.harmed
	for r := range w.mem.Leases.List(ctx, "") { // of memory
		if v, _ := w.holder.Load(r.Name); v.(*view).killed() {
			r.Name += " (killed)"
		}
		out.leases = append(out.leases, r.Name)
	}
	for _, s := range w.servers {
		out.open, out.histories = append(out.open, s.open()...), append(out.histories, s.histories()...)
		out.troubles = append(out.troubles, slices.DeleteFunc(s.troubles, func(t string) bool {
			return strings.Contains(t, "a mistake of the kind") // which a pipeline has
		})...)
	}
	for _, h := range out.histories {
		out.longest = max(out.longest, len(h.Events))
		for _, e := range h.Events {
			out.largest = max(out.largest, proto.Size(e))
			w.tr.note("event %d %s %s", e.EventId, e.EventType, e.EventTime.AsTime())
		}
	}
	for i := range w.runs {
		r := &w.runs[i]
		if rec, err := runs.Read(ctx, w.mem, r.id); err == nil {
			r.record = rec
		} else if r.id != "" && !errors.Is(err, artifacts.ErrNotExist) {
			out.troubles = append(out.troubles, fmt.Sprintf("the record of run %s: %v", r.id, err))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.trying {
		out.work = append(out.work, *x)
	}
}

// A process is a worker of a server, from its start to its end. All have the number of this real one, so that others see it live.
type process struct {
	*view
	w              *world
	server, number int
	client         client.Client
	worker         *worker.Worker
}

// slots are the steps that a process does at a time.
const slots = 2

func (w *world) start(server, number int) {
	who := fmt.Sprintf("worker %d.%d", server, number)
	v, store := w.view(fmt.Sprintf("%s, life %d", who, w.nth(who)))
	p := &process{w: w, server: server, number: number, view: v, client: w.servers[server].client(v.who)}
	log := slog.New(slog.DiscardHandler)
	a := &activities.Activities{Store: artifacts.Alone(store), Registry: kinds(p), Log: log, Client: p.client, Leases: lease.New(store.Leases, log),
		Env:     map[string]string{"host": p.who, "revision": "simulated"},
		Resolve: func(context.Context, *plan.Plan, []int, string) error { return nil },
		Beside:  func(context.Context) pipeline.Options { return pipeline.Options{Registry: w.reg} }}
	queues := []string{workflows.TaskQueue}
	if slices.ContainsFunc(w.script.Pipeline.Blocks, func(b block) bool { return b.GPU }) { // else its polls cost as much as the others'
		queues = append(queues, workflows.GPUTaskQueue)
	}
	room := worker.Options{Queues: queues, CPU: slots, Cores: 4, Memory: 16 << 30}
	if w.script.Uneven && number > 0 {
		room.Cores, room.Memory = 1, 1<<30
	}
	p.worker = worker.New(p.client, a, room)
	w.mu.Lock()
	w.place[[2]int{server, number}], w.all = p, append(w.all, p)
	w.mu.Unlock()
	p.tr.tell("%s starts", p.who)
	if err := p.worker.Start(); err != nil {
		panic(err)
	}
}

// work is one try of a step or part by a process.
type work struct {
	run, address    string
	key             artifacts.Digest
	part            bool
	server, process int
	began, ended    time.Duration
	how             string // done, failed, cancelled, lost (its process was killed), "" if it goes on
	by              *process
}

// begin is told that work begins, as hands say. Of a dead process, it only looks so.
func (p *process) begin(ctx context.Context, name string, key artifacts.Digest, part bool) (outcome, attempt) {
	w, run := p.w, ""
	if activity.IsActivity(ctx) {
		run, _ = strings.CutPrefix(activity.GetInfo(ctx).WorkflowExecution.ID, workflows.ReproduceWorkflowID(""))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.tries[name]
	x := &work{run: run, address: name, key: key, part: part, server: p.server, process: p.number, began: w.tr.now(), by: p}
	out := w.script.Pipeline.outcome(name, n)
	if p.killed() {
		return out, &work{how: "lost", by: p}
	}
	w.tries[name]++
	w.trying = append(w.trying, x)
	w.tr.tell("%s begins %s, try %d, %s: to be %s after %s", p.who, name, n, short(key), out.How, out.Took)
	return out, x
}

// end is told how work ended.
func (x *work) end(how string) {
	w := x.by.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.how == "" { // it was not lost
		x.how, x.ended = how, w.tr.now()
		w.tr.tell("%s ends %s: %s", x.by.who, x.address, how)
	}
}

// lose takes a blob from the store.
func (p *process) lose(_ context.Context, d artifacts.Digest) {
	if !p.killed() {
		p.hurt(d, "lose-blob")
	}
}

// pins is how the pins of a step end.
func (p *process) pins(name string) string { return p.w.script.Pipeline.end(name) }

// A trace has a line for each event, in virtual time: those of the story, or all. All are hashed: two plays of a script have the same
// hash, or it does not repeat. What happens at one instant, such as the end of all that a worker does, has no order.
type trace struct {
	all   bool
	began time.Time

	mu    sync.Mutex
	hash  draw          // of all instants before the last one
	last  time.Duration // its time
	sum   uint64        // of the hashes of its events
	lines []string
}

func (tr *trace) now() time.Duration { return time.Since(tr.began) }

// tell adds an event of the story, and note one of which there are many, such as a call of the store.
func (tr *trace) tell(format string, args ...any) { tr.add(true, fmt.Sprintf(format, args...)) }
func (tr *trace) note(format string, args ...any) { tr.add(false, fmt.Sprintf(format, args...)) }

func (tr *trace) add(story bool, text string) {
	at := tr.now()
	text, _, _ = strings.Cut(text, "\n") // what follows may be a stack
	h := fnv.New64a()
	fmt.Fprint(h, int64(at), text)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if at != tr.last {
		tr.hash, tr.last, tr.sum = tr.hash.of(tr.sum), at, 0
	}
	if tr.sum += h.Sum64(); story || tr.all {
		tr.lines = append(tr.lines, fmt.Sprintf("%13.6f  %s", at.Seconds(), text))
	}
}

// hashOfAll is the hash of all.
func (tr *trace) hashOfAll() draw { return tr.hash.of(tr.sum) }
