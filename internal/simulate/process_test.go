package simulate

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

// A process is a worker of a server, from its start to its end. What began again in the same
// place is another one.
type process struct {
	w              *world
	server, number int
	name           string
	view           *view
	client         client.Client
	worker         *worker.Worker
	stopped        bool // by whom it is told to
}

// slots are the steps that a process does at a time.
const slots = 2

func (w *world) newProcess(server, number int) (*process, error) {
	key := fmt.Sprintf("worker %d.%d", server, number)
	w.mu.Lock()
	w.life[key]++
	p := &process{w: w, server: server, number: number, name: fmt.Sprintf("%s, life %d", key, w.life[key])}
	w.mu.Unlock()
	var store artifacts.Store
	p.view, store = w.shelf.view(p.name)
	p.client = w.servers[server].client(p.name)
	log := slog.New(&teller{w.tr, p.name, nil})
	a := &activities.Activities{Store: store, Registry: kinds(p), Log: log, Client: p.client, Leases: lease.New(store.Leases, log),
		Env:     map[string]string{"host": p.name, "revision": "simulated"},
		Resolve: func(context.Context, *plan.Plan, []int, string) error { return nil },
		Beside:  func(context.Context) pipeline.Options { return pipeline.Options{Registry: kinds(p)} }}
	queues := []string{workflows.TaskQueue}
	if slices.ContainsFunc(w.script.Pipeline.Blocks, func(b block) bool { return b.GPU }) { // else its polls cost as much as the others'
		queues = append(queues, workflows.GPUTaskQueue)
	}
	p.worker = worker.New(p.client, a, worker.Options{Queues: queues, CPU: slots, Cores: 4, Memory: 16 << 30})
	w.tr.tell("%s starts", p.name)
	return p, p.worker.Start()
}

// stop has a process hand back what it does, and end.
func (p *process) stop() {
	p.w.tr.tell("%s is to stop", p.name)
	p.worker.Stop()
	p.w.tr.tell("%s has stopped", p.name)
}

// kill ends a process at once: nothing of it reaches the store or its server any more. Its
// goroutines wait for the end of the world.
func (p *process) kill() {
	p.w.tr.tell("%s is killed", p.name)
	close(p.view.dead)
	p.w.servers[p.server].kill(p.name)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	for _, x := range p.w.trying {
		if x.by == p && x.how == "" {
			x.how, x.ended = "lost", p.w.tr.now()
		}
	}
}

// try is work that goes on, or did.
type try struct {
	work
	by   *process
	name string
}

// begin is told that work begins, as hands say.
func (p *process) begin(ctx context.Context, name string, key artifacts.Digest, part bool) (outcome, attempt) {
	w := p.w
	run := ""
	if activity.IsActivity(ctx) {
		run, _ = strings.CutPrefix(activity.GetInfo(ctx).WorkflowExecution.ID, workflows.ReproduceWorkflowID(""))
	}
	w.mu.Lock()
	n := w.tries[name]
	if p.view.killed() { // it only looks as if it began
		n = 0
	} else {
		w.tries[name]++
	}
	out := w.script.Pipeline.outcome(name, n)
	x := &try{by: p, name: name, work: work{run: run, address: name, key: key, part: part, server: p.server, process: p.number, began: w.tr.now()}}
	if p.view.killed() {
		x.how, x.ended = "lost", x.began
	}
	w.trying = append(w.trying, x)
	w.mu.Unlock()
	if !p.view.killed() {
		w.tr.tell("%s begins %s, try %d, %s: to be %s after %s", p.name, name, n, short(key), out.How, out.Took)
	}
	return out, x
}

// end is told how work ended.
func (x *try) end(how string) {
	w := x.by.w
	w.mu.Lock()
	lost := x.how != ""
	if !lost {
		x.how, x.ended = how, w.tr.now()
	}
	w.mu.Unlock()
	if !lost {
		w.tr.tell("%s ends %s: %s", x.by.name, x.name, how)
	}
}

// lose takes a blob from the store.
func (p *process) lose(_ context.Context, d artifacts.Digest) {
	if p.view.killed() {
		return
	}
	p.w.shelf.hurt(d, "lose-blob")
}

// pins is how the pins of a step end.
func (p *process) pins(name string) string { return p.w.script.Pipeline.end(name) }

// teller has what a process says in the trace, for those who read all of it.
type teller struct {
	tr    *trace
	who   string
	attrs []slog.Attr
}

func (l *teller) Enabled(_ context.Context, level slog.Level) bool {
	return l.tr.all && level >= slog.LevelInfo
}

func (l *teller) Handle(_ context.Context, r slog.Record) error {
	var s strings.Builder
	fmt.Fprintf(&s, "%s says: %s", l.who, r.Message)
	each := func(a slog.Attr) bool { fmt.Fprintf(&s, " %s", a); return true }
	for _, a := range l.attrs {
		each(a)
	}
	r.Attrs(each)
	l.tr.aside(s.String())
	return nil
}

func (l *teller) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &teller{l.tr, l.who, append(append([]slog.Attr{}, l.attrs...), attrs...)}
}

func (l *teller) WithGroup(string) slog.Handler { return l }
