package simulate

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sort"
	"sync"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"

	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/workflows"
)

// server is a Temporal server in memory, as far as the engine uses one: what it records, in which
// order, and what it does when a worker is silent is the real one's (1.29). Its clients call it
// without a socket. It is never faster or slower than drawn.
type server struct {
	draw  draw
	index int
	trace func(format string, args ...any)
	serverFaults

	mu         sync.Mutex
	executions []*execution
	current    map[string]*execution // by workflow ID, the last one
	byRun      map[string]*execution
	queues     map[string]*queue
	stopped    map[string]time.Time // processes that stand still, until then; killed ones, for ever
	counts     map[string]int
	over       chan struct{}
	troubles   []string
}

// serverFaults decide what goes wrong; nil: nothing does.
type serverFaults struct {
	loseTask      func(what string) bool // one is given out, and its worker never gets it
	loseAnswer    func(what string) bool // a worker's answer does not arrive
	evict         func(what string) bool // a task of a workflow comes with all of its history
	continueAfter int                    // events from which on continue-as-new is suggested; 0: 4096, as the real one
}

func newServer(d draw, index int) *server {
	return &server{draw: d.of("server", index), index: index, trace: func(string, ...any) {}, current: map[string]*execution{}, byRun: map[string]*execution{},
		queues: map[string]*queue{}, stopped: map[string]time.Time{}, counts: map[string]int{}, over: make(chan struct{})}
}

// client is how a process calls the server. Workers made of it are that process.
func (s *server) client(process string) client.Client {
	c, err := client.NewLazyClient(client.Options{HostPort: "passthrough:///simulated", Identity: process, Logger: quietLog,
		WorkerHeartbeatInterval: -1, DataConverter: payload.Codec{}.DataConverter(),
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, _ *grpc.ClientConn, _ grpc.UnaryInvoker, _ ...grpc.CallOption) error {
				return serviceerror.ToStatus(s.call(ctx, process, req, reply)).Err()
			})}}})
	if err != nil {
		panic(err)
	}
	return c
}

var quietLog = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

const forever = 1000 * time.Hour

// kill cuts a process off: nothing that it asked for is answered before the end.
func (s *server) kill(process string) {
	s.freeze(process, forever)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queues {
		q.pollers = slices.DeleteFunc(q.pollers, func(p *poller) bool { return p.process == process })
	}
}

// freeze lets a process stand still for a while, as one that was stopped or cut off: what it asks
// for and what it is answered comes later.
func (s *server) freeze(process string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped[process] = time.Now().Add(d)
}

// thaw waits while a process stands still; false: until the schedule is over.
func (s *server) thaw(process string) bool {
	if d := s.stands(process); d > 0 {
		select {
		case <-s.over:
		case <-time.After(d + s.apart(process)):
		}
	}
	select {
	case <-s.over:
		return false
	default:
		return true
	}
}

// apart is a moment by which calls part that a process made while it stood still.
func (s *server) apart(process string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draw.of("thaw", process, s.nth("thaw "+process)).span(0, time.Millisecond)
}

// stands is for how long a process stands still.
func (s *server) stands(process string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Until(s.stopped[process])
}

// close lets all calls end: the schedule is over.
func (s *server) close() { close(s.over) }

// histories are those of all executions, in the order of their starts.
func (s *server) histories() (all []*history.History) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.executions {
		all = append(all, &history.History{Events: slices.Clone(e.events)})
	}
	return all
}

// open are the workflows that have not ended.
func (s *server) open() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, e := range s.current {
		if !e.closed() {
			all = append(all, fmt.Sprintf("server %d: %s", s.index, id))
		}
	}
	sort.Strings(all)
	return all
}

// nth counts, from 0. It is called locked.
func (s *server) nth(what string) int {
	s.counts[what]++
	return s.counts[what] - 1
}

// later does something locked after a drawn while, in which the way to and from the server lies.
func (s *server) later(what string, do func()) {
	s.after(s.draw.of("later", what, s.nth(what)).span(50*time.Microsecond, 8*time.Millisecond), do)
}

// after does something locked after a while; it is called locked.
func (s *server) after(d time.Duration, do func()) *time.Timer {
	return time.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		select {
		case <-s.over:
		default:
			do()
		}
	})
}

// call is what a client asks for. The SDK holds a mutex over heartbeats, and over tasks of workflows,
// one that all processes here share; no mutex is waited for in virtual time. So of a process that
// stands still these are lost, and not late.
func (s *server) call(ctx context.Context, process string, req, reply any) error {
	if s.stands(process) > 0 {
		switch req.(type) {
		case *workflowservice.RecordActivityTaskHeartbeatRequest:
			return nil
		case *workflowservice.RespondWorkflowTaskCompletedRequest, *workflowservice.RespondWorkflowTaskFailedRequest:
			return serviceerror.NewNotFound("it is too late")
		}
	}
	if s.thaw(process) {
		err := s.answer(ctx, process, req, reply)
		late := s.stands(process) > 0
		if s.thaw(process) {
			if t, is := reply.(*workflowservice.PollWorkflowTaskQueueResponse); is && late {
				t.Reset()
			}
			return err
		}
	}
	return serviceerror.NewUnavailable("the schedule is over")
}

func (s *server) answer(ctx context.Context, process string, req, reply any) error {
	switch req := req.(type) {
	case *workflowservice.PollWorkflowTaskQueueRequest:
		s.poll(ctx, process, "workflow "+req.TaskQueue.Name, of(req.TaskQueue), func(t *task) { t.workflow.fill(reply.(*workflowservice.PollWorkflowTaskQueueResponse)) })
		return nil
	case *workflowservice.PollActivityTaskQueueRequest:
		s.poll(ctx, process, "activity "+req.TaskQueue.Name, "activity "+req.TaskQueue.Name, func(t *task) { t.activity.fill(reply.(*workflowservice.PollActivityTaskQueueResponse)) })
		return nil
	case *workflowservice.GetWorkflowExecutionHistoryRequest:
		return s.getHistory(ctx, req, reply.(*workflowservice.GetWorkflowExecutionHistoryResponse))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch req := req.(type) {
	case *workflowservice.GetSystemInfoRequest:
		reply.(*workflowservice.GetSystemInfoResponse).Capabilities = &workflowservice.GetSystemInfoResponse_Capabilities{
			EncodedFailureAttributes: true, SdkMetadata: true} // without the second, the SDK cancels contexts in no order
		return nil
	case *workflowservice.DescribeNamespaceRequest, *workflowservice.ShutdownWorkerRequest:
		return nil
	case *workflowservice.StartWorkflowExecutionRequest:
		if e := s.current[req.WorkflowId]; e != nil && !e.closed() {
			return serviceerror.NewWorkflowExecutionAlreadyStarted("it is running", "", e.runID)
		}
		e := s.newExecution(req.WorkflowId, &history.WorkflowExecutionStartedEventAttributes{WorkflowType: req.WorkflowType, TaskQueue: req.TaskQueue, Input: req.Input,
			WorkflowTaskTimeout: req.WorkflowTaskTimeout, RetryPolicy: req.RetryPolicy, Header: req.Header})
		e.scheduleTask()
		reply.(*workflowservice.StartWorkflowExecutionResponse).RunId = e.runID
		return nil
	case *workflowservice.RequestCancelWorkflowExecutionRequest:
		e, err := s.running(req.WorkflowExecution)
		if err == nil {
			e.requestCancel(req.Identity)
		}
		return err
	case *workflowservice.SignalWorkflowExecutionRequest:
		e, err := s.running(req.WorkflowExecution)
		if err == nil {
			var told workflows.Settled
			if req.SignalName == workflows.SettledSignal && converter.GetDefaultDataConverter().FromPayloads(req.Input, &told) == nil && len(told.Steps) == 1 {
				s.troubles = append(s.troubles, e.name()+" is told of a step that has no others beside it")
			}
			e.signal(req.SignalName, req.Input)
		}
		return err
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		return s.taskCompleted(process, req, reply.(*workflowservice.RespondWorkflowTaskCompletedResponse))
	case *workflowservice.RespondWorkflowTaskFailedRequest:
		return s.taskFailed(req)
	case *workflowservice.RespondActivityTaskCompletedRequest:
		return s.activityAnswered(process, req.TaskToken, func(a *activityState) {
			a.end(process, &history.ActivityTaskCompletedEventAttributes{Result: req.Result, ScheduledEventId: a.id, Identity: process})
		})
	case *workflowservice.RespondActivityTaskFailedRequest:
		return s.activityAnswered(process, req.TaskToken, func(a *activityState) {
			if req.LastHeartbeatDetails != nil {
				a.details = req.LastHeartbeatDetails
			}
			a.fail(req.Failure, process)
		})
	case *workflowservice.RespondActivityTaskCanceledRequest:
		return s.activityAnswered(process, req.TaskToken, func(a *activityState) {
			a.end(process, &history.ActivityTaskCanceledEventAttributes{Details: req.Details, ScheduledEventId: a.id, Identity: process})
		})
	case *workflowservice.RecordActivityTaskHeartbeatRequest:
		a, err := s.activityOf(req.TaskToken)
		if err != nil {
			return err
		}
		a.details = req.Details
		a.armHeartbeat()
		reply.(*workflowservice.RecordActivityTaskHeartbeatResponse).CancelRequested = a.cancelRequested
		return nil
	}
	return serviceerror.NewUnimplemented(fmt.Sprintf("%T", req))
}

func (s *server) find(ref *common.WorkflowExecution) *execution {
	if ref.GetRunId() != "" {
		return s.byRun[ref.RunId]
	}
	return s.current[ref.GetWorkflowId()]
}

func (s *server) running(ref *common.WorkflowExecution) (*execution, error) {
	if e := s.find(ref); e != nil && !e.closed() {
		return e, nil
	}
	return nil, serviceerror.NewNotFound("no such execution, or it has ended")
}

// getHistory returns a history, or waits for the event that closes it.
func (s *server) getHistory(ctx context.Context, req *workflowservice.GetWorkflowExecutionHistoryRequest, reply *workflowservice.GetWorkflowExecutionHistoryResponse) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ref := req.Execution
	if len(req.NextPageToken) > 0 {
		ref = &common.WorkflowExecution{RunId: string(req.NextPageToken)}
	}
	e := s.find(ref)
	if e == nil {
		return serviceerror.NewNotFound("no such execution")
	}
	if !req.WaitNewEvent {
		reply.History = &history.History{Events: slices.Clone(e.events)}
		return nil
	}
	s.mu.Unlock()
	select {
	case <-e.ended:
	case <-time.After(20 * time.Second):
	case <-s.over:
	case <-ctx.Done():
	}
	s.mu.Lock()
	reply.History = &history.History{}
	if e.closed() {
		reply.History.Events = e.events[len(e.events)-1:]
	} else {
		reply.NextPageToken = []byte(e.runID)
	}
	return ctx.Err()
}

var isClosed = map[enums.EventType]enums.WorkflowExecutionStatus{
	enums.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:        enums.WORKFLOW_EXECUTION_STATUS_COMPLETED,
	enums.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:           enums.WORKFLOW_EXECUTION_STATUS_FAILED,
	enums.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:         enums.WORKFLOW_EXECUTION_STATUS_CANCELED,
	enums.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW: enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW,
}

// queue is where tasks wait for workers, or workers for tasks.
type queue struct {
	tasks   []*task
	pollers []*poller
}

// poller is a call of a process that waits for a task.
type poller struct {
	process string
	got     chan *task // of one
}

// A task is a task of a workflow, or a try of an activity.
type task struct {
	what     string
	queue    string
	valid    func() bool          // false: nobody wants it any more
	begin    func(process string) // it is given out
	workflow *workflowTask
	activity *activityTry
}

func (s *server) queue(name string) *queue {
	if s.queues[name] == nil {
		s.queues[name] = &queue{}
	}
	return s.queues[name]
}

// give puts a task into its queue after a while, or gives it to a drawn process that waits: the
// polls of one process are alike. It is called locked.
func (s *server) give(t *task) {
	s.later("give "+t.what, func() {
		q, n := s.queue(t.queue), s.nth("match "+t.what)
		switch {
		case !t.valid():
		case len(q.pollers) == 0:
			q.tasks = append(q.tasks, t)
		default:
			rank := func(p *poller) draw { return s.draw.of("match", t.what, n, p.process) }
			p := slices.MinFunc(q.pollers, func(a, b *poller) int { return cmp.Compare(rank(a), rank(b)) })
			q.leave(p)
			s.begin(t, p)
		}
	})
}

func (q *queue) leave(p *poller) {
	q.pollers = slices.DeleteFunc(q.pollers, func(x *poller) bool { return x == p })
}

func (s *server) begin(t *task, p *poller) {
	t.begin(p.process)
	if s.loseTask != nil && s.loseTask(t.what) {
		s.trace("server %d: %s is lost on its way to %s", s.index, t.what, p.process)
		t = nil
	}
	p.got <- t
}

// pollTime is how long a poll waits at most.
const pollTime = 140 * time.Second

// poll waits for a task, and fills in what its worker gets; without one, nothing. The queue of a
// worker's cache has another name each time, so its draws are those of what it is for.
func (s *server) poll(ctx context.Context, process, name, of string, fill func(*task)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	way := s.draw.of("poll", process, of, s.nth("poll "+process+of)).span(20*time.Microsecond, 3*time.Millisecond)
	s.mu.Unlock()
	err := readers.Pause(ctx, way)
	s.mu.Lock()
	q, p := s.queue(name), &poller{process: process, got: make(chan *task, 1)}
	for err == nil && len(q.tasks) > 0 && len(p.got) == 0 {
		t := q.tasks[0]
		if q.tasks = q.tasks[1:]; t.valid() {
			s.begin(t, p)
		}
	}
	if err == nil && len(p.got) == 0 {
		q.pollers = append(q.pollers, p)
		s.mu.Unlock()
		var t *task
		select {
		case t = <-p.got:
			p.got <- t
		case <-time.After(pollTime):
		case <-ctx.Done():
		case <-s.over:
		}
		s.mu.Lock()
		q.leave(p)
	}
	if len(p.got) > 0 {
		if t := <-p.got; t != nil { // nil: it was lost
			fill(t)
		}
	}
}

// of is what a queue of workflow tasks is for.
func of(q *taskqueue.TaskQueue) string {
	if q.Kind == enums.TASK_QUEUE_KIND_STICKY {
		return "cache of " + q.NormalName
	}
	return "workflow " + q.Name
}
