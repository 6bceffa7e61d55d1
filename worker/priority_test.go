package worker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/workflows"
)

// startHeld begins a run of so many steps, each of which says its name when it begins, and then
// waits. Level is the run's priority.
func (b *bench) startHeld(level int, name, steps string) client.WorkflowRun {
	b.t.Helper()
	id := b.t.Name() + name
	_, d := b.plan(`
step "text" "held" {
  for_each = toset([for i in range(` + steps + `) : tostring(i)])
  text     = "` + name + ` ${each.key} of ` + b.t.Name() + `"
  hold     = true
}
`)
	w, err := b.c.ExecuteWorkflow(b.t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: b.t.Name(), RetryPolicy: workflows.RunAgain(),
		Priority: temporal.Priority{PriorityKey: level, FairnessKey: id, FairnessWeight: 1}}, workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "t.hcl", Plan: &d, RunID: id})
	testkit.None(b.t, err)
	return w
}

// awaitQueued waits until that many steps are in the server's queue for the bench's worker.
func (b *bench) awaitQueued(want int64) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*time.Minute)
	defer cancel()
	var got int64
	for ctx.Err() == nil {
		d, err := b.c.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{Namespace: "default", TaskQueueType: enums.TASK_QUEUE_TYPE_ACTIVITY,
			//lint:ignore SA1019 the stats that replace it are five seconds old
			TaskQueue: &taskqueue.TaskQueue{Name: b.t.Name()}, IncludeTaskQueueStatus: true})
		if err != nil {
			continue
		}
		//lint:ignore SA1019 likewise
		if got = d.GetTaskQueueStatus().GetBacklogCountHint(); got == want {
			return
		}
	}
	b.t.Fatalf("%d steps are in the queue, want %d", got, want)
}

// begun is whose steps begin one after the other, as each ends.
func (b *bench) begun(steps int) (runs []string) {
	b.t.Helper()
	for range steps {
		b.hold <- struct{}{}
		name, _, _ := strings.Cut(b.next(), " ")
		runs = append(runs, name)
	}
	return runs
}

// endAll releases all steps, and waits until the runs have ended.
func (b *bench) endAll(runs ...client.WorkflowRun) {
	b.t.Helper()
	close(b.hold)
	for _, w := range runs {
		if _, err := b.wait(w); err != nil {
			b.t.Error(err)
		}
	}
}

// TestPriority: a step of a run of a higher priority begins before those that have been in a
// worker's queue for longer, and one of a lower priority after them.
func TestPriority(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, 1)
	trainings := b.startHeld(3, "training", "21")
	b.next()
	b.awaitQueued(20)
	spare := b.startHeld(5, "spare", "1")
	b.awaitQueued(21)
	table := b.startHeld(1, "table", "1")
	b.awaitQueued(22)
	got := b.begun(22)
	if want := slices.Concat([]string{"table"}, slices.Repeat([]string{"training"}, 20), []string{"spare"}); !slices.Equal(got, want) {
		t.Errorf("begun: %q", got)
	}
	b.endAll(trainings, spare, table)
}

// heir is a workflow that fails first, then continues itself, and then calls a child and an
// activity: what it returns is the priority that each of these was given.
func heir(ctx workflow.Context, turn int) (got []temporal.Priority, err error) {
	info := workflow.GetInfo(ctx)
	switch {
	case turn == 0 && info.Attempt == 1:
		return nil, errors.New("once more")
	case turn == 0:
		return nil, workflow.NewContinueAsNewError(ctx, heir, 1)
	case turn == 1:
		err = workflow.ExecuteChildWorkflow(ctx, heir, 2).Get(ctx, &got)
		return append(got, info.Priority), err
	}
	var of temporal.Priority
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	err = workflow.ExecuteActivity(ctx, inherited).Get(ctx, &of)
	return []temporal.Priority{of, info.Priority}, err
}

func inherited(ctx context.Context) (temporal.Priority, error) {
	return activity.GetInfo(ctx).Priority, nil
}

// TestInherited: what a run starts, and what goes on with it, has its priority, without a word of
// the workflow's.
func TestInherited(t *testing.T) {
	t.Parallel()
	b := idleBench(t, 1)
	w := sdk.New(b.c, t.Name(), sdk.Options{DisableEagerActivities: true}) // as redsi's: to those the server says no priority
	w.RegisterWorkflow(heir)
	w.RegisterActivity(inherited)
	testkit.None(t, w.Start())
	t.Cleanup(w.Stop)
	want := temporal.Priority{PriorityKey: 2, FairnessKey: "run", FairnessWeight: 1}
	run, err := b.c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: t.Name(), TaskQueue: t.Name(), RetryPolicy: workflows.RunAgain(), Priority: want}, heir, 0)
	testkit.None(t, err)
	var got []temporal.Priority
	if err := run.Get(t.Context(), &got); err != nil || !slices.Equal(got, []temporal.Priority{want, want, want}) {
		t.Errorf("%+v, %v; want three times %+v", got, err, want)
	}
}
