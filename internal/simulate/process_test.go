package simulate

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

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
