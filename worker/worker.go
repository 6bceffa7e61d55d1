package worker

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/cores"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/workflows"
)

// Options bounds what a worker takes at a time.
type Options struct {
	Queues  []string // empty: both
	Base    string   // begins the names of these two, for a store with its own queues; "": workflows.TaskQueue
	Head    bool     // play workflows and do their short work, and leave steps to other workers
	CPU     int      // activities at a time on the default queue; 0: as many as Cores
	GPU     int      // on the GPU queue; 0: one per card
	Threads int      // of an operation of a step that computes; 0: the cores that no other step uses
	Cards   []int    // that steps are given, each to one at a time; nil: the first, and programs that ask for cards get any
	Cores   int      // for which steps may ask; 0: this process's, or as many as CPU if that is more
	Memory  int64    // bytes for which steps may ask; 0: as much as this process may have
	Shift
	Deployment Deployment
}

// Worker polls one or more task queues.
type Worker struct {
	workers []worker.Worker
	work    []worker.Worker // the workers among these for queues of steps
	shift   *shift
	leaving context.Context // ends when running work is to be handed back
	leave   func()
	drain   func()
}

// New registers everything on each queue. Start polls until Stop. Steps that compute get the cores that no other step
// uses.
func New(c client.Client, a *activities.Activities, o Options) *Worker {
	if program := a.Env["revision"]; program != "" { // else the SDK reads all of it for a checksum by which servers know it
		worker.SetBinaryChecksum(program)
	}
	if len(o.Queues) == 0 {
		o.Queues = []string{workflows.TaskQueue, workflows.GPUTaskQueue}
	}
	has := o.Has()
	if o.CPU == 0 {
		o.CPU = has.CPUs
	}
	if o.GPU == 0 {
		o.GPU = max(1, len(o.Cards))
	}
	a.Features.Slots = o.CPU
	w := &Worker{shift: newShift(o.Shift)}
	w.leaving, w.leave = context.WithCancel(context.Background())
	w.drain = sync.OnceFunc(w.takeNoMore)
	if o.Until > 0 {
		a.Fits = func(took time.Duration) bool {
			ok := w.shift.fits(took)
			if !ok && w.shift.nothingElse() {
				w.drain()
			}
			return ok
		}
	}
	a.Room = capacity.NewPool(has, o.cards())
	var told sync.Once
	a.OnNoCard = func(why string) {
		told.Do(func() { a.Log.Info("no GPU found; GPU-capable steps run on the CPU", "why", why) })
	}
	queues := map[string]*slots{}
	a.OnWait = func(queue string) (over func()) {
		if s := queues[queue]; s != nil {
			return s.addWaiting()
		}
		return func() {}
	}
	for _, q := range o.Queues {
		if of, is := strings.CutPrefix(q, workflows.TaskQueue); is && o.Base != "" {
			q = o.Base + of
		}
		gpu, slots := workflows.IsGPUQueue(q), o.CPU
		if gpu {
			slots = o.GPU
		}
		if !gpu || !o.Head {
			queues[q] = newSlots(slots)
			tw := w.add(c, a, q, queues[q], o.Deployment, !o.Head)
			if !o.Head {
				w.work = append(w.work, tw)
			}
		}
		if !gpu {
			w.add(c, a, workflows.ControlQueue(q), newSlots(controlSlots), o.Deployment, true)
		}
	}
	threads := min(runtime.NumCPU(), has.CPUs)
	a.Models.Share(max(1, threads/o.GPU)) // of each slot at all times
	if o.Threads > 0 {
		a.Models.Share(o.Threads)
	}
	a.Cores = cores.New(threads, o.Threads, a.Models.SetThreads)
	return w
}

// cards returns the cards for a worker's steps: the named ones, if there are any, and only these. If there are more slots
// than cards, slots share them.
func (o Options) cards() capacity.Cards {
	c := capacity.Cards{Steps: o.Cards, Programs: o.Cards, Only: len(o.Cards) > 0}
	if !c.Only {
		for card := range device.Count() {
			c.Programs = append(c.Programs, card)
		}
	}
	n := max(1, len(o.Cards))
	c.Each = (o.GPU + n - 1) / n
	return c
}

// Has returns what a worker with these options has for steps.
func (o Options) Has() capacity.Amount {
	here := capacity.Here()
	cards := min(device.Count(), cmp.Or(here.GPUs, math.MaxInt))
	return capacity.Amount{CPUs: cmp.Or(o.Cores, max(here.CPUs, o.CPU)), Memory: cmp.Or(o.Memory, here.Memory), GPUs: cmp.Or(len(o.Cards), cards)}
}

func (w *Worker) add(c client.Client, a *activities.Activities, queue string, slots *slots, of Deployment, acts bool) worker.Worker {
	tw := worker.New(c, queue, worker.Options{
		Tuner:                        newTuner(slots),
		WorkerStopTimeout:            stopTimeout + w.shift.Until, // running work may end after drain
		MaxHeartbeatThrottleInterval: heartbeatThrottle,
		Interceptors:                 []interceptor.WorkerInterceptor{&handBack{w: w}},
		WorkflowPanicPolicy:          worker.FailWorkflow, // see below
		DeadlockDetectionTimeout:     time.Minute,
		DisableEagerActivities:       true, // Temporal 1.32's default: past the queue, so past its priorities
		DeploymentOptions:            of.options(),
		LocalActivityWorkerOnly:      !acts, // then it does workflows only
	})
	register(tw, a)
	w.workers = append(w.workers, tw)
	return tw
}

// A workflow that this code cannot continue, most likely because another version of redsi began it, fails and says so
// (FailWorkflow) instead of being retried for ever in silence; workflows.RunAgain restarts it, and it continues from
// what it finished. A machine that is too busy for the SDK's one second is not a reason for that, so that
// DeadlockDetectionTimeout is long.

// controlSlots bounds the activities of workflows.ControlQueue, nearly all of which wait: a run has at most 200 steps in
// flight, so this is for 50 runs.
const controlSlots = 10_000

// heartbeatThrottle is the shortest time between heartbeats that reach the server, and so how late progress is shown
// and a cancellation noticed. The SDK also gives up on a heartbeat after that time and cancels the activity, so that
// for the sake of busy servers it is as long as the workflows' heartbeat timeout of 15 s allows: two fit. It ends
// just after a beat of the activity, which is then sent.
const heartbeatThrottle = 7*time.Second + time.Millisecond

// stopTimeout is how long running activities have to notice a cancellation.
const stopTimeout = 10 * time.Second

func register(w worker.Worker, a *activities.Activities) {
	w.RegisterWorkflowWithOptions(workflows.Reproduce, workflow.RegisterOptions{Name: workflows.ReproduceWorkflow})
	w.RegisterWorkflowWithOptions(workflows.Step, workflow.RegisterOptions{Name: workflows.StepWorkflow})
	for name, f := range a.Named() {
		w.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}

// Start begins to poll all queues.
func (w *Worker) Start() error {
	for i, tw := range w.workers {
		if err := tw.Start(); err != nil {
			for _, started := range w.workers[:i] {
				started.Stop()
			}
			return err
		}
	}
	w.shift.start()
	return nil
}

// Ended tells, once, why the worker is to be stopped though nobody has asked for that: its shift is over.
func (w *Worker) Ended() <-chan string { return w.shift.ended }

// takeNoMore ends the polling for steps and, when the running steps have ended, the shift.
func (w *Worker) takeNoMore() {
	go func() {
		var all sync.WaitGroup
		for _, tw := range w.work {
			all.Go(tw.Stop)
		}
		all.Wait()
		w.shift.end("no remaining step fits into the time left")
	}()
}

// Stop ends the polling of every queue before it waits for anything, so that no queue gives out work that nobody will do,
// and hands running work back.
func (w *Worker) Stop() {
	w.leave()
	var all sync.WaitGroup
	for _, tw := range w.workers {
		all.Go(tw.Stop)
	}
	all.Wait()
}

// handBack interrupts the activities of a worker that stops, so that they answer before it has ended, and are not
// missed by their heartbeats later.
type handBack struct {
	interceptor.WorkerInterceptorBase
	w *Worker
}

func (h *handBack) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &handBackActivity{interceptor.ActivityInboundInterceptorBase{Next: next}, h.w}
}

type handBackActivity struct {
	interceptor.ActivityInboundInterceptorBase
	w *Worker
}

func (i *handBackActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (out any, err error) {
	if activity.GetInfo(ctx).ActivityType.Name != workflows.RestActivity {
		done := i.w.shift.working()
		defer func() {
			all, _ := out.([]workflows.Outcome)
			if one, ok := out.(workflows.Outcome); ok {
				all = []workflows.Outcome{one}
			}
			done(len(all) == 0 || slices.ContainsFunc(all, func(x workflows.Outcome) bool { return x.NotHere == nil })) // steps that are left to others are no work
		}()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(i.w.leaving, func() { cancel(activities.ErrEnding) })()
	return i.Next.ExecuteActivity(ctx, in)
}
