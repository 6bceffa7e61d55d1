package drive

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Bounds of the questions about running steps in one snapshot of a run.
const (
	workAsked  = 8  // running steps, for their progress
	queueAsked = 8  // queued steps, for whether they have begun
	atOnce     = 16 // questions
)

// lookout finds out which of a run's steps run, and how far they are, from the server's activities: of some steps at a time.
type lookout struct {
	dr   *Driver
	conn *Connection
	run  string

	looks map[string]look // of running steps, by address
	order []string        // of looks: as the steps were started
	next  int             // the next queued step to ask
	idle  time.Time       // since when nothing was seen running
}

type Work struct {
	Began    time.Time // zero: unknown
	Progress step.Progress
	Worker   string // where it is; "": unknown, or on this machine and in the same job
}

type look struct {
	begun bool
	busy  bool   // a worker is at it, or a pause between two tries is
	queue string // in which it is queued
	work  Work
}

// sight asks for the state of a run; steps that no worker has begun are Queued.
func (l *lookout) sight(ctx context.Context) (Sight, error) {
	s, err := l.dr.State(ctx, l.conn.Client, l.run)
	if err != nil {
		return Sight{}, err
	}
	pctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	v := Sight{State: s, Work: map[string]Work{}}
	l.ask(pctx, s.Steps)
	working := false
	for i, x := range s.Steps {
		switch k := l.looks[x.Address]; {
		case x.Status != runs.Running:
		case k.begun:
			v.Work[x.Address], working = k.work, working || k.busy
		default:
			s.Steps[i].Status = runs.Queued
		}
	}
	if working || l.idle.IsZero() {
		l.idle = time.Now()
	} else if time.Since(l.idle) > l.dr.Delays.Silent {
		v.WaitsFor, v.Do = l.waitsFor(pctx)
	}
	if l.conn.pilots != nil {
		l.conn.pilots.see(v)
	}
	return v, nil
}

// ask looks at the running steps that are shown, and at some queued ones: the oldest, which start first, and others in turn.
func (l *lookout) ask(ctx context.Context, steps []workflows.StepState) {
	if l.looks == nil {
		l.looks = map[string]look{}
	}
	given := map[string]workflows.StepState{}
	for _, x := range steps {
		if x.Status != runs.Running {
			continue
		}
		given[x.Address] = x
		if _, ok := l.looks[x.Address]; !ok {
			l.looks[x.Address] = look{}
			l.order = append(l.order, x.Address)
		}
	}
	l.order = slices.DeleteFunc(l.order, func(address string) bool {
		_, runs := given[address]
		if !runs {
			delete(l.looks, address)
		}
		return !runs
	})
	var working, queued, asked []workflows.StepState
	for _, address := range l.order {
		if l.looks[address].begun {
			working = append(working, given[address])
		} else {
			queued = append(queued, given[address])
		}
	}
	slices.SortFunc(working, func(x, y workflows.StepState) int { return x.Index - y.Index }) // as they are shown
	asked = append(asked, working[:min(workAsked, len(working))]...)
	oldest := min(queueAsked/2, len(queued))
	asked = append(asked, queued[:oldest]...)
	if rest := slices.Concat(queued[oldest:], working[min(workAsked, len(working)):]); len(rest) > 0 {
		for range min(queueAsked-oldest, len(rest)) {
			l.next = (l.next + 1) % len(rest)
			asked = append(asked, rest[l.next])
		}
	}
	for address, k := range l.dr.looks(ctx, l.conn, l.run, asked) {
		l.looks[address] = k
	}
}

// waitsFor says what a run without a running step waits for, "": unknown, and what a person has to do about it, "": nothing.
func (l *lookout) waitsFor(ctx context.Context) (what, do string) {
	d, err := l.conn.Client.DescribeWorkflowExecution(ctx, l.run, "")
	if err != nil {
		return "", ""
	}
	queued := map[string]int{} // steps, as far as they were asked for
	for _, p := range d.GetPendingActivities() {
		kind, queue := p.GetActivityType().GetName(), p.GetActivityOptions().GetTaskQueue().GetName()
		if !started(p) {
			if kind != workflows.DoActivity {
				return l.worker(ctx, queue, 0)
			}
			queued[queue] += 0
			continue
		}
		switch kind {
		case workflows.LoadActivity:
			return "waiting for a worker to read the plan", ""
		case workflows.PrepareActivity:
			return "waiting: looking up steps in " + l.dr.Places(), ""
		case workflows.JournalActivity:
			return "waiting for the store: writing the run's record", ""
		case workflows.DoActivity:
			return "running short steps", ""
		}
	}
	for _, k := range l.looks {
		if k.queue != "" {
			queued[k.queue]++
		}
	}
	for _, queue := range slices.Sorted(maps.Keys(queued)) {
		if what, do = l.worker(ctx, queue, queued[queue]); do != "" {
			break // others may only be busy
		}
	}
	if what != "" {
		return what, do
	}
	if d.GetPendingWorkflowTask().GetState() == enums.PENDING_WORKFLOW_TASK_STATE_SCHEDULED {
		return "waiting for a worker to continue the run", ""
	}
	return "", ""
}

func (l *lookout) worker(ctx context.Context, queue string, steps int) (what, do string) {
	if ok, err := l.dr.Polled(ctx, l.conn, queue, enums.TASK_QUEUE_TYPE_ACTIVITY, nil); err == nil && !ok {
		if l.conn.pilots != nil {
			return l.conn.pilots.waits.Load().(string), ""
		}
		start, where := l.dr.StartWorker(l.conn), ""
		if workflows.IsGPUQueue(queue) {
			start, where = l.dr.StartWorker(l.conn, "--queue", workflows.GPUTaskQueue), " on a machine with a GPU, or with --allow-cpu on another"
		}
		return fmt.Sprintf("waiting for a worker: none polls the queue %q", queue), fmt.Sprintf("no worker polls the queue %q: start one with `%s`%s", queue, start, where)
	}
	if steps > 0 {
		return fmt.Sprintf("waiting for a worker to begin %s: some poll the queue %q, but may be busy with other steps", words.Count(steps, "queued step"), queue), ""
	}
	return "waiting for a worker", ""
}

// looks asks about running steps: the run, or the workflow of a step that is cut; steps without an answer are left out.
func (dr *Driver) looks(ctx context.Context, conn *Connection, run string, steps []workflows.StepState) map[string]look {
	out := map[string]look{}
	if len(steps) == 0 {
		return out
	}
	of := map[string]*workflow.PendingActivityInfo{}
	if d, err := conn.Client.DescribeWorkflowExecution(ctx, run, ""); err == nil {
		for _, p := range d.GetPendingActivities() {
			of[p.GetActivityId()] = p
		}
	}
	var mu sync.Mutex
	var asking errgroup.Group
	asking.SetLimit(atOnce)
	for _, x := range steps {
		if x.Workflow == "" {
			if p := of[x.Activity]; p != nil {
				mu.Lock() // the answers about others are coming
				out[x.Address] = lookOf(conn, x.Address, p)
				mu.Unlock()
			}
			continue
		}
		asking.Go(func() error {
			d, err := conn.Client.DescribeWorkflowExecution(ctx, x.Workflow, "")
			if err != nil || len(d.GetPendingActivities()) == 0 { // it may just have ended
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			out[x.Address] = lookOf(conn, "", d.GetPendingActivities()...)
			return nil
		})
	}
	_ = asking.Wait() // no error
	return out
}

func started(p *workflow.PendingActivityInfo) bool {
	return p.GetState() != enums.PENDING_ACTIVITY_STATE_SCHEDULED && p.GetState() != enums.PENDING_ACTIVITY_STATE_UNSPECIFIED
}

// lookOf is what a step's activities report: of its parts or, with its address, of an activity that it may share with other steps.
func lookOf(conn *Connection, address string, pending ...*workflow.PendingActivityInfo) (k look) {
	working := 0
	for _, p := range pending {
		if one := progressOf(conn, p); one != nil && (one.Step == "" || address == "" || one.Step == address) {
			sum := &k.work.Progress
			sum.Done += one.Done
			sum.Total += one.Total
			sum.Unit, sum.Note, sum.LeftS = one.Unit, one.Note, one.LeftS
		}
		if !started(p) {
			k.queue = p.GetActivityOptions().GetTaskQueue().GetName()
			continue
		}
		working++
		if _, place, _ := strings.Cut(p.GetLastWorkerIdentity(), "@"); place != runs.Place(hostEnv()) && p.GetActivityType().GetName() != workflows.RestActivity {
			k.work.Worker = place
		}
		if at := p.GetLastStartedTime().AsTime(); k.work.Began.IsZero() || at.Before(k.work.Began) {
			k.work.Began = at
		}
	}
	if n := len(pending); n > 1 {
		k.work.Progress.Note, k.work.Progress.LeftS = fmt.Sprintf("%s running, %d queued", words.Count(working, "part"), n-working), 0
	}
	k.begun, k.busy = working > 0, working > 0
	for _, p := range pending {
		if f := p.GetLastFailure(); f != nil { // it has run, and will be retried
			k.begun = true
			k.busy = k.busy || p.GetNextAttemptScheduleTime().AsTime().After(time.Now())
			k.work.Progress.Note = fmt.Sprintf("attempt %d, after: %s", p.GetAttempt(), conn.Codec.Message(f))
		}
	}
	return k
}

// progressOf reads an activity's last heartbeat; nil if it says nothing.
func progressOf(conn *Connection, p *workflow.PendingActivityInfo) *step.Progress {
	var one *step.Progress
	if ps := p.GetHeartbeatDetails().GetPayloads(); len(ps) == 0 || conn.Codec.DataConverter().FromPayload(ps[0], &one) != nil || one != nil && *one == (step.Progress{}) {
		return nil // it may be of another version
	}
	return one
}
