package simulate

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/api/command/v1"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/failure/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// activityState is an activity that has not ended.
type activityState struct {
	e         *execution
	id        int64 // the event that scheduled it
	scheduled *history.ActivityTaskScheduledEventAttributes
	at        time.Time
	attempt   int32
	now       *activityTry // nil: between two tries
	details   *common.Payloads
	last      *failure.Failure // of the try before

	cancelRequested            bool
	heartbeat, atMost, backoff *time.Timer
}

// activityTry is one try of an activity.
type activityTry struct {
	a       *activityState
	attempt int32
	queued  time.Time
	since   time.Time // zero: no worker has it
	process string
	ctx     *common.Payloads // heartbeat details of the try before
}

func (e *execution) scheduleActivity(c *command.ScheduleActivityTaskCommandAttributes, at int64) {
	queue := c.TaskQueue
	if queue.GetName() == "" {
		queue = e.started.TaskQueue
	}
	x := &history.ActivityTaskScheduledEventAttributes{ActivityId: c.ActivityId, ActivityType: c.ActivityType, TaskQueue: queue, Header: c.Header, Input: c.Input,
		ScheduleToCloseTimeout: c.ScheduleToCloseTimeout, StartToCloseTimeout: c.StartToCloseTimeout, HeartbeatTimeout: c.HeartbeatTimeout, RetryPolicy: c.RetryPolicy, WorkflowTaskCompletedEventId: at}
	a := &activityState{e: e, scheduled: x, at: time.Now()}
	a.id = e.add(x)
	e.activities[a.id] = a
	a.try()
}

func (a *activityState) name() string {
	return fmt.Sprintf("%s %d of %s", a.scheduled.ActivityType.Name, a.id, a.e.name())
}

// try puts the next try into the queue.
func (a *activityState) try() {
	a.attempt++
	t := &activityTry{a: a, attempt: a.attempt, queued: time.Now(), ctx: a.details}
	a.now = t
	a.e.s.give(&task{what: fmt.Sprintf("try %d of %s", t.attempt, a.name()), queue: "activity " + a.scheduled.TaskQueue.Name, activity: t,
		valid: func() bool { return t.wanted() && t.since.IsZero() }, begin: t.begin})
}

// wanted reports whether the activity still waits for this try.
func (t *activityTry) wanted() bool {
	return t.a.now == t && !t.a.e.closed() && t.a.e.activities[t.a.id] == t.a
}

func (t *activityTry) begin(process string) {
	t.since, t.process = time.Now(), process
	a := t.a
	a.e.s.trace("server %d: %s begins try %d of %s", a.e.s.index, process, t.attempt, a.name())
	a.armHeartbeat()
	if most := a.scheduled.StartToCloseTimeout.AsDuration(); most > 0 && most < 24*time.Hour { // longer than any schedule
		a.atMost = a.e.s.after(most, func() { a.timedOut(t, enums.TIMEOUT_TYPE_START_TO_CLOSE) })
	}
}

func (a *activityState) armHeartbeat() {
	if a.heartbeat != nil {
		a.heartbeat.Stop()
	}
	if most := a.scheduled.HeartbeatTimeout.AsDuration(); most > 0 {
		t := a.now
		a.heartbeat = a.e.s.after(most, func() { a.timedOut(t, enums.TIMEOUT_TYPE_HEARTBEAT) })
	}
}

func (a *activityState) stopTimers() {
	for _, t := range []*time.Timer{a.heartbeat, a.atMost, a.backoff} {
		if t != nil {
			t.Stop()
		}
	}
}

// fill fills in what a worker gets.
func (t *activityTry) fill(r *workflowservice.PollActivityTaskQueueResponse) {
	a, x := t.a, t.a.scheduled
	r.TaskToken, r.WorkflowNamespace, r.WorkflowType, r.WorkflowExecution = fmt.Appendf(nil, "%s %d %d", a.e.runID, a.id, t.attempt), "default", a.e.started.WorkflowType, a.e.ref()
	r.ActivityType, r.ActivityId, r.Header, r.Input, r.HeartbeatDetails = x.ActivityType, x.ActivityId, x.Header, x.Input, t.ctx
	r.ScheduledTime, r.CurrentAttemptScheduledTime, r.StartedTime, r.Attempt = timestamppb.New(a.at), timestamppb.New(t.queued), timestamppb.New(t.since), t.attempt
	r.ScheduleToCloseTimeout, r.StartToCloseTimeout, r.HeartbeatTimeout, r.RetryPolicy = x.ScheduleToCloseTimeout, x.StartToCloseTimeout, x.HeartbeatTimeout, x.RetryPolicy
}

// activityOf is the activity whose try a worker speaks of; one that is not wanted any more is an error.
func (s *server) activityOf(token []byte) (*activityState, error) {
	var run string
	var id int64
	var attempt int32
	_, _ = fmt.Sscanf(string(token), "%s %d %d", &run, &id, &attempt)
	e := s.byRun[run]
	if e == nil || e.closed() || e.activities[id] == nil || e.activities[id].now == nil || e.activities[id].now.attempt != attempt || e.activities[id].now.since.IsZero() {
		return nil, serviceerror.NewNotFound("activity task not found")
	}
	return e.activities[id], nil
}

func (s *server) activityAnswered(process string, token []byte, do func(*activityState)) error {
	a, err := s.activityOf(token)
	if err != nil {
		return err
	}
	if s.loseAnswer != nil && s.loseAnswer(fmt.Sprintf("try %d of %s", a.attempt, a.name())) {
		s.trace("server %d: the answer to try %d of %s is lost", s.index, a.attempt, a.name())
		return nil
	}
	s.trace("server %d: %s answers try %d of %s", s.index, process, a.attempt, a.name())
	do(a)
	return nil
}

// end writes how an activity ended, after the event of the try that ended it.
func (a *activityState) end(process string, how proto.Message) {
	a.stopTimers()
	delete(a.e.activities, a.id)
	a.e.hear(&history.ActivityTaskStartedEventAttributes{ScheduledEventId: a.id, Identity: process, Attempt: a.attempt, LastFailure: a.last}, how)
}

// retry begins another try, if the policy has one for such a failure.
func (a *activityState) retry(f *failure.Failure) enums.RetryState {
	p := a.scheduled.RetryPolicy
	info := f.GetApplicationFailureInfo()
	switch {
	case a.cancelRequested:
		return enums.RETRY_STATE_CANCEL_REQUESTED
	case p == nil:
		return enums.RETRY_STATE_RETRY_POLICY_NOT_SET
	case info.GetNonRetryable(), slices.Contains(p.NonRetryableErrorTypes, info.GetType()):
		return enums.RETRY_STATE_NON_RETRYABLE_FAILURE
	case p.MaximumAttempts > 0 && a.attempt >= p.MaximumAttempts:
		return enums.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED
	}
	wait := p.InitialInterval.AsDuration() // the coefficient of every policy is 1
	if info.GetNextRetryDelay() != nil {
		wait = info.NextRetryDelay.AsDuration()
	}
	a.stopTimers()
	a.now, a.last = nil, f
	a.backoff = a.e.s.after(wait, a.try)
	return enums.RETRY_STATE_IN_PROGRESS
}

func (a *activityState) fail(f *failure.Failure, process string) {
	if state := a.retry(f); state != enums.RETRY_STATE_IN_PROGRESS {
		a.end(process, &history.ActivityTaskFailedEventAttributes{Failure: f, ScheduledEventId: a.id, Identity: process, RetryState: state})
	}
}

func (a *activityState) timedOut(t *activityTry, how enums.TimeoutType) {
	if !t.wanted() {
		return
	}
	a.e.s.trace("server %d: try %d of %s timed out: %s", a.e.s.index, a.attempt, a.name(), how)
	f := &failure.Failure{Message: "activity " + how.String() + " timeout", FailureInfo: &failure.Failure_TimeoutFailureInfo{TimeoutFailureInfo: &failure.TimeoutFailureInfo{
		TimeoutType: how, LastHeartbeatDetails: a.details}}}
	if state := a.retry(f); state != enums.RETRY_STATE_IN_PROGRESS {
		a.end(t.process, &history.ActivityTaskTimedOutEventAttributes{Failure: f, ScheduledEventId: a.id, RetryState: state})
	}
}

// cancelActivity asks for the end of an activity: one that no worker has ends at once.
func (e *execution) cancelActivity(id, at int64) {
	n := e.add(&history.ActivityTaskCancelRequestedEventAttributes{ScheduledEventId: id, WorkflowTaskCompletedEventId: at})
	a := e.activities[id]
	if a == nil { // it has ended meanwhile
		return
	}
	a.cancelRequested = true
	if a.now == nil || a.now.since.IsZero() {
		a.stopTimers()
		delete(e.activities, id)
		e.buffered = append(e.buffered, event(&history.ActivityTaskCanceledEventAttributes{LatestCancelRequestedEventId: n, ScheduledEventId: id}))
	}
}
