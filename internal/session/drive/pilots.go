package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/pilots"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/workflows"
)

// Pilots are the jobs of Slurm that do a run's steps, while this process follows it.
type Pilots struct {
	Site   *slurm.Site
	Jobs   []slurm.Job // of the site's pilots, in their order
	Output string      // the folder of their output, which prepare creates

	steps   map[string]pilots.Step // by address
	plan    artifacts.Digest       // that the run had when steps was last completed
	calls   slurm.Limited
	next    pilots.State
	worked  map[string]bool // jobs in which a step has begun
	told    map[string]bool
	refused string       // why Slurm did not take the last submission; "": it did, or none is needed
	sights  chan Sight   // the newest
	waits   atomic.Value // string: what steps wait for that no worker takes
}

// How often serve looks whether a run needs pilots; soon: while none of its steps is ready.
const (
	pilotsEvery = 5 * time.Second
	pilotsSoon  = time.Second
)

// listens has the embedded server listen for pilots: where it listens already, else under this machine's name.
func (dr *Driver) listens(o *Cluster) (err error) {
	if o.Given() {
		return fault.Input(errors.New("--slurm has jobs work for the server of this command, but a cluster is named: omit that (--temporal-…, TEMPORAL_ADDRESS), or submit workers for it by `redsi worker --slurm-script`"))
	}
	if i, _ := devserver.Running(dr.serverDir()); o.Listen == "" {
		o.Listen = i.Listen
	}
	if o.Listen == "" {
		o.Listen, err = os.Hostname()
	}
	return err
}

// prepare refuses a run with steps that no pilot holds, before anything is submitted.
func (p *Pilots) prepare(ctx context.Context, dr *Driver, of session.Seen) error {
	if err := slurm.Here(); err != nil {
		return fault.Input(fmt.Errorf("--slurm: %w", err))
	}
	v := of.Preview
	e, err := dr.Cost(ctx, of.Store.Alone(), v)
	if err != nil {
		return err
	}
	if _, unfit := pilots.UseOf(p.Site, v, e, dr.Registry); len(unfit) > 0 {
		return tellUnfit(unfit, "nothing was submitted: lower what is asked for there, or have a larger pilot")
	}
	p.steps = map[string]pilots.Step{}
	for i := range v.Plan.Steps {
		p.add(dr, &v.Plan.Steps[i], e.At(i))
	}
	return denied(os.MkdirAll(p.Output, 0o755))
}

func (p *Pilots) add(dr *Driver, s *plan.Step, x estimate.Step) {
	if _, there := p.steps[s.Address]; !there {
		p.steps[s.Address] = pilots.Of(s, x, dr.Registry.Lookup(s.Task.Kind))
	}
}

// serve has pilots for a run until over is called or ctx ends. Then it takes back the pilots that have not begun, unless another run
// of the server may use them. Running pilots end on their own.
func (p *Pilots) serve(ctx context.Context, dr *Driver, conn *Connection, wf client.WorkflowRun, store artifacts.Store) (over func()) {
	p.calls.Names = lists.Map(p.Jobs, func(j slurm.Job) string { return j.Name })
	p.worked, p.told, p.sights = map[string]bool{}, map[string]bool{}, make(chan Sight, 1)
	p.waits.Store("waiting for pilots")
	conn.pilots = p
	looking, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() {
		for looking.Err() == nil {
			select {
			case <-looking.Done():
			case v := <-p.sights:
				pause := pilotsSoon
				if p.look(looking, dr, store, v) {
					pause = pilotsEvery
				}
				_ = readers.Pause(looking, pause)
			}
		}
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		if err := p.takeBack(ending, dr, conn, wf.GetID()); err != nil {
			dr.Say("pilots that have not begun may still begin: " + err.Error())
		}
	})
	return func() { stop(); all.Wait() }
}

// see keeps the newest sight of the run. One goroutine calls it.
func (p *Pilots) see(v Sight) {
	select {
	case <-p.sights:
	default:
	}
	p.sights <- v
}

func (p *Pilots) say(dr *Driver, text string) {
	if !p.told[text] {
		p.told[text] = true
		dr.Say(text)
	}
}

// look submits the pilots that a run needs, as it is now. It reports whether steps are given out.
func (p *Pilots) look(ctx context.Context, dr *Driver, store artifacts.Store, v Sight) bool {
	now := pilots.Look{Now: time.Now()}
	now.Ready, now.Begun = p.open(ctx, dr, store, v, now.Now)
	works := map[string]bool{}
	for _, w := range v.Work {
		if id := slurmJob(w.Worker); id != "" {
			p.worked[id], works[id] = true, true
		}
	}
	jobs, err := p.calls.Jobs(ctx)
	if err != nil && ctx.Err() == nil {
		p.say(dr, "the state of pilots is not known: "+err.Error())
		p.waits.Store("waiting for Slurm: " + err.Error())
	}
	if !p.calls.Known() {
		return len(now.Ready)+len(now.Begun) > 0
	}
	for _, q := range jobs {
		if sort := slices.Index(p.calls.Names, q.Name); sort >= 0 {
			now.Pilots = append(now.Pilots, pilots.Pilot{Queued: q, Sort: sort, Worked: p.worked[q.ID], Works: works[q.ID]})
		}
	}
	var order pilots.Order
	p.next, order = pilots.Next(p.Site, p.next, now)
	if order.Doubt {
		p.calls.Doubt()
	}
	switch name := p.Site.Pilots[order.Sort].Name; {
	case order.Why != "":
		p.say(dr, order.Why+p.lastLines())
	case order.N > 0:
		id, err := p.calls.Submit(ctx, p.Jobs[order.Sort], order.N)
		switch {
		case err != nil && ctx.Err() == nil:
			p.refused = "Slurm takes no pilots: " + err.Error()
			p.say(dr, p.refused)
		case id != "":
			p.refused = ""
			dr.Say(fmt.Sprintf("submitted %s %s as %s: %s ready", words.Count(order.N, "pilot"), name, id, words.Count(order.Steps, "step")))
		}
	default:
		p.refused = ""
	}
	there := strings.Join(lists.Map(pilots.SumOf(p.Site, p.calls.Names, jobs), pilots.Sum.String), "; ")
	p.waits.Store("waiting for pilots: " + cmp.Or(order.Why, p.refused, there, "none are there yet"))
	return len(now.Ready)+len(now.Begun) > 0
}

// slurmJob is the id of the job in which a worker is: "47_3" of "vm, slurm 47_3 on n1"; "": in none.
func slurmJob(place string) string {
	_, job, _ := strings.Cut(place, ", slurm ")
	id, _, _ := strings.Cut(job, " on ")
	return id
}

// slots are the steps that all pilots together have processors for.
func (p *Pilots) slots() int {
	all, most := 0, p.Site.Max
	for _, x := range slices.SortedFunc(slices.Values(p.Site.Pilots), func(a, b slurm.Pilot) int { return b.Has.CPUs - a.Has.CPUs }) {
		n := min(x.Max, most)
		all, most = all+n*x.Has.CPUs, most-n
	}
	return all
}

// open lists the steps that are ready (steps of batches until they are done), and the steps at work, with how long they still take.
func (p *Pilots) open(ctx context.Context, dr *Driver, store artifacts.Store, v Sight, now time.Time) (ready, begun []pilots.Step) {
	if v.State.Plan != p.plan { // it has grown
		if pl, err := plan.Read(ctx, store.Blobs, v.State.Plan); err == nil {
			p.plan = v.State.Plan
			for i := range pl.Steps {
				p.add(dr, &pl.Steps[i], estimate.Step{})
			}
		}
	}
	took := map[string]time.Duration{} // the longest that steps of a block took in this run
	for _, s := range v.State.Steps {
		if block := blockOf(s.Address); s.Status == runs.Ran {
			took[block] = max(took[block], time.Duration(s.TookS*float64(time.Second)))
		}
	}
	for _, s := range v.State.Steps {
		if batched := s.Status == runs.Waiting && s.Activity != ""; !batched && s.Status != runs.Queued && s.Status != runs.Running {
			continue
		}
		x, there := p.steps[s.Address]
		if !there {
			continue
		}
		x.Took = cmp.Or(x.Took, took[blockOf(s.Address)])
		if began := v.Work[s.Address].Began; s.Status == runs.Running {
			if x.Took > 0 && !began.IsZero() {
				x.Took = max(time.Second, x.Took-now.Sub(began))
			}
			begun = append(begun, x)
			continue
		}
		if place, why := pilots.Holds(p.Site, x); place < 0 { // a step of a grown plan
			p.say(dr, "no pilot is for "+why)
		}
		ready = append(ready, x)
	}
	return ready, begun
}

func blockOf(address string) string {
	block, _, _ := strings.Cut(address, "[")
	return block
}

const outputShown = 5

// lastLines shows the end of the output that was written last; "" if there is none.
func (p *Pilots) lastLines() string {
	found, _ := os.ReadDir(p.Output) // without it nothing is shown
	var last fs.FileInfo
	for _, f := range found {
		if i, err := f.Info(); err == nil && (last == nil || i.ModTime().After(last.ModTime())) {
			last = i
		}
	}
	if last == nil {
		return ""
	}
	file := filepath.Join(p.Output, last.Name())
	text, err := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if err != nil || lines[0] == "" {
		return ""
	}
	return fmt.Sprintf("; %s ends with: %s", file, strings.Join(lines[max(0, len(lines)-outputShown):], " / "))
}

func (p *Pilots) takeBack(ctx context.Context, dr *Driver, conn *Connection, run string) error {
	pends := func(q slurm.Queued) bool { return q.State == slurm.Pending }
	last := p.calls.Last()
	if !slices.ContainsFunc(last, pends) {
		return nil
	}
	open, err := ListOpen(ctx, conn.Client)
	if err != nil {
		return err
	}
	for _, w := range open {
		if w.Execution.WorkflowId != run {
			return nil
		}
	}
	if now, err := slurm.List(ctx, p.calls.Names...); err == nil { // some may have begun since it was last asked
		last = now
	}
	ids := lists.Map(lists.Filter(last, pends), func(q slurm.Queued) string { return q.ID })
	if len(ids) == 0 {
		return nil
	}
	if err := slurm.Cancel(ctx, ids...); err != nil {
		return err
	}
	dr.Say("took back pilots that had not begun: " + slurm.IDs(ids))
	return nil
}

// goesOn finds an open run of the same plan, which a killed process has left; nil: there is none.
func goesOn(ctx context.Context, conn *Connection, digest artifacts.Digest) (wf client.WorkflowRun, runID string, err error) {
	open, err := ListOpen(ctx, conn.Client)
	for _, w := range open {
		id := w.Execution.WorkflowId
		d, derr := conn.Client.DescribeWorkflowExecution(ctx, id, "")
		if derr != nil || d.GetWorkflowExtendedInfo().GetCancelRequested() {
			continue
		}
		first, herr := conn.Client.GetWorkflowHistory(ctx, id, w.Execution.RunId, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
		var in workflows.ReproduceInput // not by a query, which may wait for the worker that was killed
		if herr != nil || conn.Codec.DataConverter().FromPayloads(first.GetWorkflowExecutionStartedEventAttributes().GetInput(), &in) != nil {
			continue
		}
		if in.Plan != nil && *in.Plan == digest {
			return conn.Client.GetWorkflow(ctx, id, w.Execution.RunId), in.RunID, nil
		}
	}
	return nil, "", err
}
