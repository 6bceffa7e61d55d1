package simulate

//lint:file-ignore SA1019 the SDK finds the command of a cancellation by fields that the server fills in still

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/command/v1"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/failure/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// execution is one execution of a workflow, and what is pending of it. All its methods are called
// with the server locked.
type execution struct {
	s       *server
	id      string
	runID   string
	began   time.Time
	started *history.WorkflowExecutionStartedEventAttributes
	status  enums.WorkflowExecutionStatus
	ended   chan struct{}
	events  []*history.HistoryEvent
	size    int64

	buffered     []*history.HistoryEvent // while a task is being done
	task         *workflowTask           // nil: none is wanted
	attempt      int32                   // of that
	sticky       string                  // the queue of the worker that has it in its cache
	lastStarted  int64                   // event of the task that was completed last
	cancelWanted bool

	activities map[int64]*activityState // by the event that scheduled it
	timers     map[string]*pendingTimer
	parent     *execution
	initiated  int64 // of the parent
}

type pendingTimer struct {
	*time.Timer
	started int64
}

// workflowTask is the task of an execution: scheduled, and then being done.
type workflowTask struct {
	e         *execution
	scheduled int64
	started   int64 // 0: not yet
	inFull    bool  // with all of the history
}

func (e *execution) name() string { return fmt.Sprintf("%s/%s", e.id, e.runID[:8]) }

func (e *execution) closed() bool { return e.status != enums.WORKFLOW_EXECUTION_STATUS_RUNNING }

func (e *execution) ref() *common.WorkflowExecution {
	return &common.WorkflowExecution{WorkflowId: e.id, RunId: e.runID}
}

// newExecution begins one without a task.
func (s *server) newExecution(id string, a *history.WorkflowExecutionStartedEventAttributes) *execution {
	h := uint64(s.draw.of("run", id, s.nth("run "+id)))
	e := &execution{s: s, id: id, runID: fmt.Sprintf("%08x-%04x-4%03x-8000-%012x", h>>32, h>>16&0xffff, h>>4&0xfff, h&0xffffffffffff), began: time.Now(), started: a,
		status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING, ended: make(chan struct{}), activities: map[int64]*activityState{}, timers: map[string]*pendingTimer{}}
	if a.WorkflowTaskTimeout.AsDuration() == 0 {
		a.WorkflowTaskTimeout = durationpb.New(10 * time.Second)
	}
	a.OriginalExecutionRunId, a.FirstExecutionRunId, a.WorkflowId, a.Attempt = e.runID, e.runID, id, 1
	s.executions, s.current[id], s.byRun[e.runID] = append(s.executions, e), e, e
	e.add(a)
	s.trace("server %d: %s begins", s.index, e.name())
	return e
}

// add writes an event at once.
func (e *execution) add(attributes proto.Message) int64 { return e.write(event(attributes)) }

func (e *execution) write(v *history.HistoryEvent) int64 {
	v.EventId, v.EventTime = int64(len(e.events)+1), timestamppb.Now()
	e.events = append(e.events, v)
	e.size += int64(proto.Size(v))
	if to, closes := isClosed[v.EventType]; closes {
		e.close(to, v)
	}
	return v.EventId
}

// hear writes events that come from outside, after the task that is being done.
func (e *execution) hear(all ...proto.Message) {
	for _, attributes := range all {
		e.buffered = append(e.buffered, event(attributes))
	}
	if (e.task == nil || e.task.started == 0) && e.flush() {
		e.scheduleTask()
	}
}

// close ends the execution, and tells the one that started it.
func (e *execution) close(to enums.WorkflowExecutionStatus, v *history.HistoryEvent) {
	e.status, e.task, e.buffered = to, nil, nil
	close(e.ended)
	e.s.trace("server %d: %s ended: %s, %d events", e.s.index, e.name(), to, len(e.events))
	for _, a := range e.activities {
		a.stopTimers()
	}
	for _, t := range e.timers {
		t.Stop()
	}
	if to == enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
		e.next(v.GetWorkflowExecutionContinuedAsNewEventAttributes())
		return
	}
	for _, x := range e.s.executions {
		if x.parent == e && !x.closed() { // as ParentClosePolicy says
			e.s.later("orphan "+x.id, func() { x.requestCancel(e.id) })
		}
	}
	if p := e.parent; p != nil && !p.closed() {
		e.s.later("end of "+e.id, func() { p.hear(e.endOf(v)) })
	}
}

// endOf is how the parent of an execution hears of its end.
func (e *execution) endOf(v *history.HistoryEvent) proto.Message {
	ref, kind, of := e.ref(), e.started.WorkflowType, e.initiated
	switch e.status {
	case enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return &history.ChildWorkflowExecutionCompletedEventAttributes{Result: v.GetWorkflowExecutionCompletedEventAttributes().Result, WorkflowExecution: ref, WorkflowType: kind, InitiatedEventId: of}
	case enums.WORKFLOW_EXECUTION_STATUS_FAILED:
		return &history.ChildWorkflowExecutionFailedEventAttributes{Failure: v.GetWorkflowExecutionFailedEventAttributes().Failure, WorkflowExecution: ref, WorkflowType: kind, InitiatedEventId: of,
			RetryState: enums.RETRY_STATE_RETRY_POLICY_NOT_SET}
	}
	return &history.ChildWorkflowExecutionCanceledEventAttributes{Details: v.GetWorkflowExecutionCanceledEventAttributes().Details, WorkflowExecution: ref, WorkflowType: kind, InitiatedEventId: of}
}

// next begins the execution that continues one.
func (e *execution) next(a *history.WorkflowExecutionContinuedAsNewEventAttributes) {
	n := e.s.newExecution(e.id, &history.WorkflowExecutionStartedEventAttributes{WorkflowType: a.WorkflowType, TaskQueue: a.TaskQueue, Input: a.Input, Header: a.Header,
		WorkflowTaskTimeout: a.WorkflowTaskTimeout, RetryPolicy: e.started.RetryPolicy, ContinuedExecutionRunId: e.runID, Initiator: a.Initiator,
		ParentWorkflowExecution: e.started.ParentWorkflowExecution, ParentInitiatedEventId: e.started.ParentInitiatedEventId})
	a.NewExecutionRunId, n.parent, n.initiated = n.runID, e.parent, e.initiated
	n.scheduleTask()
}

// scheduleTask wants a task done, if none is wanted yet.
func (e *execution) scheduleTask() {
	if e.closed() || e.task != nil {
		return
	}
	e.attempt++
	t := &workflowTask{e: e}
	e.task = t
	where := &taskqueue.TaskQueue{Name: e.started.TaskQueue.Name, Kind: enums.TASK_QUEUE_KIND_NORMAL}
	if e.sticky != "" {
		where = &taskqueue.TaskQueue{Name: e.sticky, Kind: enums.TASK_QUEUE_KIND_STICKY, NormalName: where.Name}
	}
	t.scheduled = e.add(&history.WorkflowTaskScheduledEventAttributes{
		TaskQueue: where, StartToCloseTimeout: e.started.WorkflowTaskTimeout, Attempt: e.attempt})
	what := fmt.Sprintf("task %d of %s", t.scheduled, e.name())
	e.s.give(&task{what: what, queue: "workflow " + where.Name, workflow: t,
		valid: func() bool { return e.task == t && t.started == 0 }, begin: t.begin})
	if e.sticky != "" { // its worker may be gone
		e.s.after(5*time.Second, func() {
			if e.task == t && t.started == 0 {
				e.taskTimedOut(enums.TIMEOUT_TYPE_SCHEDULE_TO_START)
			}
		})
	}
}

func (t *workflowTask) begin(process string) {
	e := t.e
	t.inFull = e.sticky == "" || e.s.evict != nil && e.s.evict(fmt.Sprintf("task %d of %s", t.scheduled, e.name()))
	t.started = e.add(&history.WorkflowTaskStartedEventAttributes{ScheduledEventId: t.scheduled, Identity: process, SuggestContinueAsNew: len(e.events) >= cmp.Or(e.s.continueAfter, 4096), HistorySizeBytes: e.size})
	e.s.after(e.started.WorkflowTaskTimeout.AsDuration(), func() {
		if e.task == t {
			e.taskTimedOut(enums.TIMEOUT_TYPE_START_TO_CLOSE)
		}
	})
}

// fill fills in what a worker gets.
func (t *workflowTask) fill(r *workflowservice.PollWorkflowTaskQueueResponse) {
	e := t.e
	from := e.lastStarted
	if t.inFull {
		from = 0
	}
	r.TaskToken, r.WorkflowExecution, r.WorkflowType = t.token(), e.ref(), e.started.WorkflowType
	r.PreviousStartedEventId, r.StartedEventId, r.Attempt = e.lastStarted, t.started, e.attempt
	r.ScheduledTime, r.StartedTime = e.events[t.scheduled-1].EventTime, e.events[t.started-1].EventTime
	r.WorkflowExecutionTaskQueue = e.started.TaskQueue
	r.History = &history.History{Events: append([]*history.HistoryEvent(nil), e.events[from:t.started]...)}
}

func (t *workflowTask) token() []byte { return fmt.Appendf(nil, "%s %d", t.e.runID, t.started) }

// taskOf is the task that a worker answers; one that is not wanted any more is an error.
func (s *server) taskOf(token []byte) (*workflowTask, error) {
	var run string
	var started int64
	_, _ = fmt.Sscanf(string(token), "%s %d", &run, &started)
	e := s.byRun[run]
	if e == nil || e.task == nil || e.task.started == 0 || e.task.started != started {
		return nil, serviceerror.NewNotFound("Workflow task not found.")
	}
	return e.task, nil
}

// endTask ends a task that was not done: what came meanwhile is written, and another one follows.
func (e *execution) endTask(why proto.Message) {
	e.add(why)
	e.task, e.sticky = nil, ""
	e.flush()
	e.scheduleTask()
}

// flush writes what came while the task was being done.
func (e *execution) flush() (some bool) {
	for _, v := range e.buffered {
		if !e.closed() {
			e.write(v)
			some = true
		}
	}
	e.buffered = nil
	return some
}

func (e *execution) taskTimedOut(how enums.TimeoutType) {
	t := e.task
	e.s.trace("server %d: task %d of %s timed out: %s", e.s.index, t.scheduled, e.name(), how)
	e.endTask(&history.WorkflowTaskTimedOutEventAttributes{ScheduledEventId: t.scheduled, StartedEventId: t.started, TimeoutType: how})
}

func (s *server) taskFailed(req *workflowservice.RespondWorkflowTaskFailedRequest) error {
	t, err := s.taskOf(req.TaskToken)
	if err != nil {
		return err
	}
	s.troubles = append(s.troubles, fmt.Sprintf("a task of %s failed: %s: %s", t.e.name(), req.Cause, textOf(req.Failure)))
	t.e.endTask(&history.WorkflowTaskFailedEventAttributes{ScheduledEventId: t.scheduled, StartedEventId: t.started, Cause: req.Cause, Failure: req.Failure, Identity: req.Identity})
	return nil
}

// textOf is a failure with its causes.
func textOf(f *failure.Failure) string {
	if f.GetCause() != nil {
		return f.GetMessage() + ": " + textOf(f.Cause)
	}
	return f.GetMessage()
}

func (s *server) taskCompleted(process string, req *workflowservice.RespondWorkflowTaskCompletedRequest, reply *workflowservice.RespondWorkflowTaskCompletedResponse) error {
	t, err := s.taskOf(req.TaskToken)
	if err != nil {
		return err
	}
	e := t.e
	if s.loseAnswer != nil && s.loseAnswer(fmt.Sprintf("task %d of %s", t.scheduled, e.name())) {
		s.trace("server %d: the answer to task %d of %s is lost", s.index, t.scheduled, e.name())
		return nil
	}
	for _, c := range req.Commands {
		if closes[c.CommandType] && len(e.buffered) > 0 { // the workflow has not heard all: it must decide anew
			s.trace("server %d: %s wants to end, and has not heard all", s.index, e.name())
			e.endTask(&history.WorkflowTaskFailedEventAttributes{ScheduledEventId: t.scheduled, StartedEventId: t.started, Cause: enums.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND, Identity: process})
			return serviceerror.NewInvalidArgument("UnhandledCommand")
		}
	}
	at := e.add(&history.WorkflowTaskCompletedEventAttributes{ScheduledEventId: t.scheduled, StartedEventId: t.started, Identity: process, SdkMetadata: req.SdkMetadata})
	e.task, e.attempt, e.lastStarted, e.sticky = nil, 0, t.started, ""
	if req.StickyAttributes != nil {
		e.sticky = req.StickyAttributes.WorkerTaskQueue.GetName()
	}
	for _, c := range req.Commands {
		if !e.closed() {
			e.do(c, at)
		}
	}
	if e.closed() {
		return nil
	}
	if e.flush() || req.ForceCreateNewWorkflowTask {
		e.scheduleTask()
		if n := e.task; req.ForceCreateNewWorkflowTask && req.ReturnNewWorkflowTask {
			n.begin(process)
			reply.WorkflowTask = &workflowservice.PollWorkflowTaskQueueResponse{}
			n.fill(reply.WorkflowTask)
		}
	}
	return nil
}

var closes = map[enums.CommandType]bool{enums.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION: true, enums.COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION: true,
	enums.COMMAND_TYPE_CANCEL_WORKFLOW_EXECUTION: true, enums.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION: true}

func (e *execution) requestCancel(by string) {
	if e.cancelWanted || e.closed() {
		return
	}
	e.cancelWanted = true
	e.s.trace("server %d: %s is to be cancelled", e.s.index, e.name())
	e.hear(&history.WorkflowExecutionCancelRequestedEventAttributes{Identity: by})
}

func (e *execution) signal(name string, input *common.Payloads) {
	e.s.trace("server %d: %s hears %s", e.s.index, e.name(), name)
	e.hear(&history.WorkflowExecutionSignaledEventAttributes{SignalName: name, Input: input})
}

// do does a command of a workflow; at is the event of the task that gave it.
func (e *execution) do(c *command.Command, at int64) {
	switch a := c.Attributes.(type) {
	case *command.Command_ScheduleActivityTaskCommandAttributes:
		e.scheduleActivity(a.ScheduleActivityTaskCommandAttributes, at)
	case *command.Command_RequestCancelActivityTaskCommandAttributes:
		e.cancelActivity(a.RequestCancelActivityTaskCommandAttributes.ScheduledEventId, at)
	case *command.Command_StartTimerCommandAttributes:
		e.startTimer(a.StartTimerCommandAttributes, at)
	case *command.Command_CancelTimerCommandAttributes:
		e.cancelTimer(a.CancelTimerCommandAttributes.TimerId, at)
	case *command.Command_StartChildWorkflowExecutionCommandAttributes:
		e.startChild(a.StartChildWorkflowExecutionCommandAttributes, at)
	case *command.Command_RequestCancelExternalWorkflowExecutionCommandAttributes:
		e.cancelOther(a.RequestCancelExternalWorkflowExecutionCommandAttributes, at)
	case *command.Command_RecordMarkerCommandAttributes:
		x := a.RecordMarkerCommandAttributes
		e.add(&history.MarkerRecordedEventAttributes{MarkerName: x.MarkerName, Details: x.Details, Failure: x.Failure, Header: x.Header, WorkflowTaskCompletedEventId: at})
	case *command.Command_UpsertWorkflowSearchAttributesCommandAttributes:
		e.add(&history.UpsertWorkflowSearchAttributesEventAttributes{SearchAttributes: a.UpsertWorkflowSearchAttributesCommandAttributes.SearchAttributes, WorkflowTaskCompletedEventId: at})
	case *command.Command_CompleteWorkflowExecutionCommandAttributes:
		e.add(&history.WorkflowExecutionCompletedEventAttributes{Result: a.CompleteWorkflowExecutionCommandAttributes.Result, WorkflowTaskCompletedEventId: at})
	case *command.Command_FailWorkflowExecutionCommandAttributes:
		f := a.FailWorkflowExecutionCommandAttributes.Failure
		if text := textOf(f); !f.GetApplicationFailureInfo().GetNonRetryable() && e.started.RetryPolicy != nil || strings.Contains(text, " was given up: ") || strings.Contains(text, "[TMPRL11") {
			e.s.troubles = append(e.s.troubles, fmt.Sprintf("%s was given up: %s", e.name(), text))
		}
		e.add(&history.WorkflowExecutionFailedEventAttributes{Failure: f, RetryState: enums.RETRY_STATE_NON_RETRYABLE_FAILURE, WorkflowTaskCompletedEventId: at})
	case *command.Command_CancelWorkflowExecutionCommandAttributes:
		e.add(&history.WorkflowExecutionCanceledEventAttributes{Details: a.CancelWorkflowExecutionCommandAttributes.Details, WorkflowTaskCompletedEventId: at})
	case *command.Command_ContinueAsNewWorkflowExecutionCommandAttributes:
		x := a.ContinueAsNewWorkflowExecutionCommandAttributes
		e.add(&history.WorkflowExecutionContinuedAsNewEventAttributes{
			WorkflowType: x.WorkflowType, TaskQueue: e.started.TaskQueue, Input: x.Input, Header: x.Header, WorkflowTaskTimeout: x.WorkflowTaskTimeout,
			Initiator: enums.CONTINUE_AS_NEW_INITIATOR_WORKFLOW, WorkflowTaskCompletedEventId: at})
	default:
		panic(fmt.Sprintf("the simulated server does not know the command %s", c.CommandType))
	}
}

// attributesOf has the field of an event for each type of attributes.
var attributesOf = func() map[protoreflect.FullName]protoreflect.FieldDescriptor {
	all := map[protoreflect.FullName]protoreflect.FieldDescriptor{}
	fields := new(history.HistoryEvent).ProtoReflect().Descriptor().Oneofs().ByName("attributes").Fields()
	for i := range fields.Len() {
		all[fields.Get(i).Message().FullName()] = fields.Get(i)
	}
	return all
}()

// event is the event that has such attributes.
func event(attributes proto.Message) *history.HistoryEvent {
	v := new(history.HistoryEvent)
	field := attributesOf[attributes.ProtoReflect().Descriptor().FullName()]
	v.ProtoReflect().Set(field, protoreflect.ValueOfMessage(attributes.ProtoReflect()))
	v.EventType = enums.EventType(enums.EventType_value["EVENT_TYPE_"+strings.ToUpper(strings.TrimSuffix(string(field.Name()), "_event_attributes"))])
	return v
}

// What an execution waits for besides activities: timers, children, cancellations of them.

func (e *execution) startTimer(c *command.StartTimerCommandAttributes, at int64) {
	t := &pendingTimer{started: e.add(&history.TimerStartedEventAttributes{TimerId: c.TimerId, StartToFireTimeout: c.StartToFireTimeout, WorkflowTaskCompletedEventId: at})}
	late := e.s.draw.of("timer", e.runID, c.TimerId).span(time.Microsecond, 5*time.Millisecond)
	t.Timer = e.s.after(c.StartToFireTimeout.AsDuration()+late, func() {
		if e.timers[c.TimerId] == t && !e.closed() {
			delete(e.timers, c.TimerId)
			e.hear(&history.TimerFiredEventAttributes{TimerId: c.TimerId, StartedEventId: t.started})
		}
	})
	e.timers[c.TimerId] = t
}

func (e *execution) cancelTimer(id string, at int64) {
	started := int64(0)
	if t := e.timers[id]; t != nil {
		t.Stop()
		started = t.started
		delete(e.timers, id)
	}
	e.buffered = slices.DeleteFunc(e.buffered, func(b *history.HistoryEvent) bool { // it has fired, and the workflow never hears of it
		x := b.GetTimerFiredEventAttributes()
		if x.GetTimerId() != id || x == nil {
			return false
		}
		started = x.StartedEventId
		return true
	})
	e.add(&history.TimerCanceledEventAttributes{
		TimerId: id, StartedEventId: started, WorkflowTaskCompletedEventId: at})
}

func (e *execution) startChild(c *command.StartChildWorkflowExecutionCommandAttributes, at int64) {
	initiated := e.add(&history.StartChildWorkflowExecutionInitiatedEventAttributes{
		WorkflowId: c.WorkflowId, WorkflowType: c.WorkflowType, TaskQueue: c.TaskQueue, Input: c.Input, ParentClosePolicy: c.ParentClosePolicy, WorkflowTaskCompletedEventId: at})
	queue := c.TaskQueue
	if queue.GetName() == "" {
		queue = e.started.TaskQueue
	}
	e.s.later("start "+c.WorkflowId, func() {
		if other := e.s.current[c.WorkflowId]; other != nil && !other.closed() {
			e.hear(&history.StartChildWorkflowExecutionFailedEventAttributes{
				WorkflowId: c.WorkflowId, WorkflowType: c.WorkflowType, Cause: enums.START_CHILD_WORKFLOW_EXECUTION_FAILED_CAUSE_WORKFLOW_ALREADY_EXISTS, InitiatedEventId: initiated})
			return
		}
		child := e.s.newExecution(c.WorkflowId, &history.WorkflowExecutionStartedEventAttributes{WorkflowType: c.WorkflowType, TaskQueue: queue, Input: c.Input, Header: c.Header,
			WorkflowTaskTimeout: c.WorkflowTaskTimeout, RetryPolicy: c.RetryPolicy, ParentWorkflowExecution: e.ref(), ParentInitiatedEventId: initiated})
		child.parent, child.initiated = e, initiated
		e.hear(&history.ChildWorkflowExecutionStartedEventAttributes{
			WorkflowExecution: child.ref(), WorkflowType: c.WorkflowType, InitiatedEventId: initiated})
		child.scheduleTask()
	})
}

func (e *execution) cancelOther(c *command.RequestCancelExternalWorkflowExecutionCommandAttributes, at int64) {
	of := &common.WorkflowExecution{WorkflowId: c.WorkflowId, RunId: c.RunId}
	initiated := e.add(&history.RequestCancelExternalWorkflowExecutionInitiatedEventAttributes{Namespace: c.Namespace, Control: c.Control, ChildWorkflowOnly: c.ChildWorkflowOnly,
		WorkflowExecution: of, WorkflowTaskCompletedEventId: at})
	e.s.later("cancel "+c.WorkflowId, func() {
		if other, err := e.s.running(of); err == nil {
			other.requestCancel(e.id)
			e.hear(&history.ExternalWorkflowExecutionCancelRequestedEventAttributes{Namespace: c.Namespace, InitiatedEventId: initiated, WorkflowExecution: of})
			return
		}
		e.hear(&history.RequestCancelExternalWorkflowExecutionFailedEventAttributes{Namespace: c.Namespace, Control: c.Control,
			Cause: enums.CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED_CAUSE_EXTERNAL_WORKFLOW_EXECUTION_NOT_FOUND, InitiatedEventId: initiated, WorkflowExecution: of})
	})
}
