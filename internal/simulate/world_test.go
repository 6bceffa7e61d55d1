package simulate

import (
	"context"
	"errors"
	"fmt"
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

	mu     sync.Mutex
	place  map[[2]int]*process // those that live, by server and number
	all    []*process          // that there ever were
	life   map[string]int      // how many there were in a place
	tries  map[string]int      // of work, by its name
	trying []*try
	runs   []*ran // by number

	living  map[int]int // processes of a server
	unhandy []unhandy
}

// How long a schedule may take in virtual time, and how long what is left has to go.
const (
	longest   = 6 * time.Hour
	aftermath = 3 * time.Minute
	goneBy    = time.Minute // from the end, all goroutines
)

// play plays a script, and says what came of it.
func play(t *testing.T, s script, all bool) (out observed, tr *trace) {
	defer func() {
		if p := recover(); p != nil { // goroutines that never end
			out.troubles = append(out.troubles, fmt.Sprint("the world does not end: ", p))
		}
		if tr != nil {
			replay(&out)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			if p := recover(); p != nil {
				out.troubles = append(out.troubles, fmt.Sprint("a panic of the play: ", p))
			}
		}()
		w := newWorld(s, all)
		tr = w.tr
		w.play(&out)
	})
	return out, tr
}

func newWorld(s script, all bool) *world {
	w := &world{script: s, tr: newTrace(all), reg: kinds(nil), place: map[[2]int]*process{}, life: map[string]int{}, tries: map[string]int{}, living: map[int]int{}}
	w.shelf = newShelf(s.Seed, w.tr, s.Faults)
	for i := range s.Servers {
		srv := newServer(s.Seed, i)
		srv.trace = w.tr.note
		srv.serverFaults = w.faultsOf(i)
		w.servers = append(w.servers, srv)
	}
	for _, a := range s.Acts {
		if a.Do == "run" {
			w.runs = append(w.runs, &ran{act: a})
		}
	}
	return w
}

// faultsOf are a server's, as the script has them.
func (w *world) faultsOf(server int) (f serverFaults) {
	var mu sync.Mutex
	n := map[string]int{}
	strikes := func(fault string) func(string) bool {
		return func(what string) bool {
			active := w.shelf.now(fault)
			if active == nil {
				return false
			}
			mu.Lock()
			n[fault+what]++
			d := w.script.Seed.of(fault, server, what, n[fault+what])
			mu.Unlock()
			return d.chance(active.Rate)
		}
	}
	f.loseTask, f.loseAnswer, f.evict = strikes("lose-task"), strikes("redeliver"), strikes("evict")
	for _, x := range w.script.Faults {
		if x.What == "continue" {
			f.continueAfter = int(x.Rate)
		}
	}
	return f
}

// play does the acts at their times, waits for the runs, and looks at what is left.
func (w *world) play(out *observed) {
	out.script = w.script
	ctx, over := context.WithTimeout(context.Background(), longest)
	defer over()
	for server := range w.script.Servers {
		for number := range w.script.Workers {
			w.start(server, number)
		}
	}
	var acts, runs sync.WaitGroup
	number := 0
	for _, a := range w.script.Acts {
		var r *ran
		if a.Do == "run" {
			r = w.runs[number]
			number++
		}
		do := func() {
			// To the nanosecond: no two acts fall together.
			at := a.At + w.script.Seed.of("act", a.At, a.Do).span(0, time.Millisecond)
			if readers.Pause(ctx, at) == nil {
				w.act(ctx, a, r)
			}
		}
		if r != nil {
			runs.Go(do)
		} else {
			acts.Go(do)
		}
	}
	for _, f := range w.script.Faults {
		if f.What == "damage" || f.What == "lose-blob" {
			acts.Go(func() {
				if readers.Pause(ctx, f.At) == nil {
					w.shelf.harm(w.script.Seed.of("harm", f.At), f.What)
				}
			})
		}
	}
	runs.Wait()
	out.stuck = ctx.Err() != nil
	over()
	acts.Wait()
	w.tr.tell("all runs have ended; what went wrong is mended")
	w.shelf.heal()
	time.Sleep(aftermath)
	w.look(out)
	w.end()
	time.Sleep(goneBy)
}

// act does one.
func (w *world) act(ctx context.Context, a act, r *ran) {
	switch a.Do {
	case "run":
		w.run(ctx, r)
	case "cancel":
		w.cancel(ctx, a)
	case "gc":
		w.gc(ctx, a)
	case "kill", "stop":
		w.mu.Lock()
		at := [2]int{a.Server, a.Number}
		p := w.place[at]
		delete(w.place, at)
		if p != nil {
			w.lives(a.Server, -1)
		}
		w.mu.Unlock()
		switch {
		case p == nil:
		case a.Do == "kill":
			p.kill()
		default:
			p.stop()
		}
	case "start":
		w.start(a.Server, a.Number)
	}
}

// start starts a process in a place that is free.
func (w *world) start(server, number int) {
	at := [2]int{server, number}
	w.mu.Lock()
	taken := w.place[at] != nil
	w.mu.Unlock()
	if taken {
		return
	}
	p, err := w.newProcess(server, number)
	if err != nil {
		w.tr.tell("%s cannot start: %v", p.name, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.place[at] = p
	w.all = append(w.all, p)
	w.lives(server, 1)
}

// lives counts the processes of a server, and the times when there are none. It is called locked.
func (w *world) lives(server, more int) {
	w.living[server] += more
	switch n := w.living[server]; {
	case n == 0:
		w.unhandy = append(w.unhandy, unhandy{server: server, from: w.tr.now()})
	case n == 1 && more > 0:
		for i := range w.unhandy {
			if u := &w.unhandy[i]; u.server == server && u.to == 0 {
				u.to = w.tr.now()
			}
		}
	}
}

// run is `redsi run` on a cluster, by somebody who tries again when the store does not answer.
func (w *world) run(ctx context.Context, r *ran) {
	n := slices.Index(w.runs, r)
	who := fmt.Sprint("run ", n)
	_, store := w.shelf.view(who)
	srv := w.servers[r.Server]
	c := srv.client(who)
	defer c.Close()
	r.id = workflows.NewRunID(time.Now(), fmt.Sprintf("%08x", n+1))
	p, ds := pipeline.Load(map[string][]byte{"t.hcl": []byte(w.script.Pipeline.hcl(r.Edition))}, pipeline.Options{Registry: w.reg})
	if ds.HasErrors() {
		panic(ds.Err())
	}
	var in workflows.ReproduceInput
	for {
		var done bool
		var err error
		if in, done, err = w.prepare(ctx, store, p, r); err == nil && done {
			w.tell(r, "%s has all results already", who)
			return
		}
		if err == nil {
			break
		}
		w.tr.tell("%s cannot begin: %v", who, err)
		var invalid *pipeline.Invalid
		if errors.As(err, &invalid) || readers.Pause(ctx, 5*time.Second) != nil {
			r.err, r.ended = err, w.tr.now()
			return
		}
		var bad *artifacts.IntegrityError
		if errors.As(err, &bad) { // and so it says
			_, err := artifacts.Check(ctx, store, artifacts.CheckOptions{Repair: true})
			w.tr.tell("verify --repair: %v", err)
		}
	}
	var wf client.WorkflowRun
	for {
		var err error
		wf, err = c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: workflows.ReproduceWorkflowID(r.id), TaskQueue: workflows.TaskQueue,
			RetryPolicy: workflows.RunAgain(), WorkflowTaskTimeout: workflows.TaskTimeout}, workflows.ReproduceWorkflow, in)
		if err == nil {
			break
		}
		if readers.Pause(ctx, time.Second) != nil {
			r.err = err
			return
		}
	}
	r.began = w.tr.now()
	w.tr.tell("%s begins: %s, edition %d", who, r.id, r.Edition)
	var res workflows.ReproduceResult
	err := wf.Get(ctx, &res)
	if ctx.Err() != nil {
		r.err = errors.New("it did not end")
		w.tr.tell("%s does not end", who)
		return
	}
	r.result, r.err = &res, err
	if failed := workflows.ErrorOf(err); failed != nil {
		r.result = &failed.Result
	}
	w.tell(r, "%s ends: %+v, %v", who, *r.result, firstLine(err))
}

// tell notes the end of a run.
func (w *world) tell(r *ran, format string, args ...any) {
	r.ended = w.tr.now()
	w.tr.tell(format, args...)
}

func firstLine(err error) string {
	if err == nil {
		return "well"
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// prepare does what `redsi run` does before the workflow: see drive.Driver.Reproduce.
func (w *world) prepare(ctx context.Context, store artifacts.Store, p *pipeline.Pipeline, r *ran) (in workflows.ReproduceInput, done bool, err error) {
	build := func(p *pipeline.Pipeline) (*plan.Plan, error) { return plan.Build("t.hcl", p, w.reg, nil) }
	follow := func(pl *plan.Plan, keep plan.Keep) (*plan.Preview, error) {
		return pl.Follow(ctx, w.reg, func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
			return artifacts.LookupKnown(ctx, store, keys)
		}, keep, store.Blobs.Open)
	}
	pl, err := build(p)
	if err != nil {
		panic(err)
	}
	if pl.Pending() {
		if _, pl, err = (plan.Grower{Origin: p.Origin(), With: p.With, Plan: build, Follow: follow, Blobs: store.Blobs}).Grow(ctx, p, pl); err != nil {
			return in, false, err
		}
	}
	none := func(int, *plan.Item) bool { return false }
	v, err := follow(pl, none)
	if err != nil {
		return in, false, err
	}
	if r.SkipFailed {
		past, err := journal.Read(ctx, w.reg, store, v, "")
		if err != nil {
			return in, false, err
		}
		if len(past.Failed) > 0 {
			pl, _ = pl.Without(func(i int) bool { _, failed := past.Failed[i]; return failed })
			if v, err = follow(pl, none); err != nil {
				return in, false, err
			}
		}
	}
	digest, err := activities.StorePlan(ctx, store.Blobs, pl)
	if err != nil {
		return in, false, err
	}
	r.plan = digest
	if v.Done() {
		return in, true, nil
	}
	hits, err := activities.PagesOf(ctx, store.Blobs, activities.HitsOf(v))
	return workflows.ReproduceInput{Pipeline: pl.Pipeline, FailFast: r.FailFast, Plan: &digest, RunID: r.id, Hits: &hits}, false, err
}

// cancel is `redsi cancel`.
func (w *world) cancel(ctx context.Context, a act) {
	if a.Number >= len(w.runs) {
		return
	}
	r := w.runs[a.Number]
	if r.began == 0 || r.ended != 0 || r.cancelled != 0 {
		return
	}
	r.cancelled = w.tr.now()
	w.tr.tell("run %d is cancelled", a.Number)
	c := w.servers[r.Server].client(fmt.Sprint("cancel ", a.Number))
	defer c.Close()
	if err := c.CancelWorkflow(ctx, workflows.ReproduceWorkflowID(r.id), ""); err != nil {
		w.tr.tell("it cannot be: %v", err)
	}
}

// gc is `redsi gc`.
func (w *world) gc(ctx context.Context, a act) {
	d := w.script.Seed.of("gc", a.At)
	_, store := w.shelf.view(fmt.Sprint("gc of ", a.At))
	grace := []time.Duration{1, d.of("grace").span(time.Second, 10*time.Minute), 0}[d.n(3)]
	g, err := artifacts.Collect(ctx, store, artifacts.GCOptions{Grace: grace})
	w.tr.tell("gc with a grace of %s deletes %d results, %d blobs, %d leases; %d runs are open: %v", grace, len(g.Results), len(g.Blobs), len(g.Leases), len(g.Open), err)
}

// look says what is there when all is over.
func (w *world) look(out *observed) {
	ctx := context.Background()
	out.store = w.shelf.left()
	for r, err := range w.shelf.base.Leases.List(ctx, "") {
		if err != nil {
			continue
		}
		if v := w.shelf.holder[r.Name]; v.dead != nil && v.killed() {
			r.Name += " (killed)"
		}
		out.leases = append(out.leases, r.Name)
	}
	out.stored, out.harmed, out.unhandy = w.shelf.stored, w.shelf.harmed, w.unhandy
	for _, s := range w.servers {
		out.open = append(out.open, s.open()...)
		out.histories = append(out.histories, s.histories()...)
	}
	for _, h := range out.histories {
		out.longest = max(out.longest, len(h.Events))
		for _, e := range h.Events {
			out.largest = max(out.largest, proto.Size(e))
			w.tr.note("event %d %s %s", e.EventId, e.EventType, e.EventTime.AsTime())
		}
	}
	for _, r := range w.runs {
		if r.id != "" {
			if rec, err := activities.ReadRun(ctx, w.shelf.base, r.id); err == nil {
				r.record = rec
			} else if !errors.Is(err, artifacts.ErrNotExist) {
				out.troubles = append(out.troubles, fmt.Sprintf("the record of run %s: %v", r.id, err))
			}
		}
		out.runs = append(out.runs, *r)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.trying {
		out.work = append(out.work, x.work)
	}
}

// end ends all processes and servers.
func (w *world) end() {
	w.tr.note("the end")
	var all sync.WaitGroup
	for _, p := range w.all {
		if !p.view.killed() {
			all.Go(p.worker.Stop)
		}
	}
	all.Wait()
	for _, p := range w.all { // whose calls would go on
		if !p.view.killed() {
			close(p.view.dead)
		}
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
	for i, h := range out.histories {
		r := sdk.NewWorkflowReplayer()
		r.RegisterWorkflowWithOptions(workflows.Reproduce, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
		r.RegisterWorkflowWithOptions(workflows.Step, workflow.RegisterOptions{Name: workflows.StepWorkflow})
		if err := r.ReplayWorkflowHistory(quietLog, h); err != nil {
			out.troubles = append(out.troubles, fmt.Sprintf("history %d, of %d events, does not replay: %v", i, len(h.Events), err))
		}
	}
}
