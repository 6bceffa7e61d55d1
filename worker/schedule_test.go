package worker_test

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/workflows"
)

// TestSchedule: a schedule of Temporal starts runs, each of which has a name of its own; what is done is a hit.
func TestSchedule(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, plan := b.plan("step \"text\" \"a\" { text = \"scheduled\" }\n")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	h, err := b.c.ScheduleClient().Create(ctx, client.ScheduleOptions{ID: t.Name(), Spec: client.ScheduleSpec{CronExpressions: []string{"0 3 1 1 *"}},
		Action: &client.ScheduleWorkflowAction{ID: t.Name(), Workflow: workflows.ReproduceWorkflow, TaskQueue: t.Name(), Args: []any{workflows.ReproduceInput{Pipeline: "t.hcl", Plan: &plan}}}})
	errtest.None(t, err)
	ran := map[string]workflows.ReproduceResult{}
	for n := 1; n <= 2; n++ {
		errtest.None(t, h.Trigger(ctx, client.ScheduleTriggerOptions{Overlap: enums.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL}))
		for len(ran) < n {
			d, err := h.Describe(ctx)
			errtest.None(t, err)
			for _, a := range d.Info.RecentActions {
				w := a.StartWorkflowResult
				var r workflows.ReproduceResult
				errtest.None(t, b.c.GetWorkflow(ctx, w.WorkflowID, w.FirstExecutionRunID).Get(ctx, &r))
				ran[r.RunID] = r
			}
		}
	}
	hit, made := 0, 0
	for id, r := range ran {
		if _, ok := workflows.RunBegan(id); !ok {
			t.Errorf("a run has the name %q", id)
		}
		hit, made = hit+r.Hit, made+r.Ran
	}
	if hit != 1 || made != 1 {
		t.Errorf("%+v", ran)
	}
}
