package simulate

//lint:file-ignore SA1019 the SDK finds the command of a cancellation by fields that the server fills in still

import (
	"slices"
	"time"

	"go.temporal.io/api/command/v1"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
)

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
