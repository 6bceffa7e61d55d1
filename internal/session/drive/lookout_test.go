package drive

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/activity/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/failure/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/redsi/redsi/workflows"
)

// atWork answers that each workflow has an activity that has begun, and counts the questions.
type atWork struct {
	client.Client
	asked *atomic.Int64
}

func (c atWork) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	c.asked.Add(1)
	return &workflowservice.DescribeWorkflowExecutionResponse{
		PendingActivities: []*workflow.PendingActivityInfo{{ActivityId: "work-1", State: enums.PENDING_ACTIVITY_STATE_STARTED}}}, nil
}

// TestLooks asks about steps that are cut and others at once, as a run does that has both: the
// answers about the former come while the latter are listed, of which the run is asked once.
func TestLooks(t *testing.T) {
	var steps []workflows.StepState
	for i := range 20000 {
		s := workflows.StepState{Address: fmt.Sprint(i), Activity: "work-1"}
		if i%2 == 0 {
			s.Workflow = "step"
		}
		steps = append(steps, s)
	}
	conn := &Connection{Client: atWork{asked: new(atomic.Int64)}}
	got := (&Driver{}).looks(t.Context(), conn, "run", steps)
	if asked := conn.Client.(atWork).asked.Load(); len(got) != len(steps) || asked != 1+10000 {
		t.Errorf("%d looks at %d steps, of %d questions", len(got), len(steps), asked)
	}
}

// TestLookOf: what is queued has not begun, what is tried again has, though a worker is not at it before it begins again; parts
// are counted and begin with the first.
func TestLookOf(t *testing.T) {
	at := time.Unix(100, 0).UTC()
	queued := &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_SCHEDULED,
		ActivityOptions: &activity.ActivityOptions{TaskQueue: &taskqueue.TaskQueue{Name: "redsi-gpu"}}}
	began := func(at time.Time) *workflow.PendingActivityInfo {
		return &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_STARTED, LastStartedTime: timestamppb.New(at), LastWorkerIdentity: "17@vm, slurm 47_3 on n1"}
	}
	again := &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_SCHEDULED, Attempt: 2, LastFailure: &failure.Failure{Message: "disk full"}}
	later := &workflow.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_SCHEDULED, Attempt: 2, LastFailure: &failure.Failure{Message: "disk full"},
		NextAttemptScheduleTime: timestamppb.New(time.Now().Add(time.Hour))}
	for _, tt := range []struct {
		name    string
		pending []*workflow.PendingActivityInfo
		begun   bool
		busy    bool
		queue   string
		at      time.Time
		note    string
	}{
		{name: "between two activities"},
		{name: "queued", pending: []*workflow.PendingActivityInfo{queued}, queue: "redsi-gpu"},
		{name: "at work", pending: []*workflow.PendingActivityInfo{began(at)}, begun: true, busy: true, at: at},
		{name: "tried again", pending: []*workflow.PendingActivityInfo{again}, begun: true, note: "attempt 2, after: disk full"},
		{name: "to be tried again", pending: []*workflow.PendingActivityInfo{later}, begun: true, busy: true, note: "attempt 2, after: disk full"},
		{name: "in parts", pending: []*workflow.PendingActivityInfo{queued, began(at.Add(time.Second)), began(at), queued}, begun: true, busy: true,
			queue: "redsi-gpu", at: at, note: "2 parts running, 2 queued"},
	} {
		k := lookOf(&Connection{}, "", tt.pending...)
		if k.begun != tt.begun || k.busy != tt.busy || k.queue != tt.queue || !k.work.Began.Equal(tt.at) || k.work.Progress.Note != tt.note || (k.work.Worker == "vm, slurm 47_3 on n1") == tt.at.IsZero() {
			t.Errorf("%s: %+v", tt.name, k)
		}
	}
}
