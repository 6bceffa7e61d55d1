package worker_test

import (
	"context"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

func (b *bench) wait(w client.WorkflowRun) (workflows.ReproduceResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var r workflows.ReproduceResult
	err := w.Get(ctx, &r)
	return r, err
}

// ends waits for a run, which must end well and have run so many steps.
func (b *bench) ends(w client.WorkflowRun, ran int) {
	b.t.Helper()
	if r, err := b.wait(w); err != nil || r.Ran != ran {
		b.t.Fatalf("%+v, %v; want %d steps to run", r, err, ran)
	}
}

// awaitActivity waits until one of some workflows is at an activity of a name, and returns which
// and what its heartbeat says, which must have the words.
func (b *bench) awaitActivity(name, words string, ids ...string) (id, note string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		for _, id := range ids {
			d, err := b.c.DescribeWorkflowExecution(ctx, id, "")
			if err != nil {
				continue // it has not started yet
			}
			for _, p := range d.GetPendingActivities() {
				var said step.Progress
				if beat := p.GetHeartbeatDetails().GetPayloads(); len(beat) > 0 && b.codec.DataConverter().FromPayload(beat[0], &said) != nil {
					continue
				}
				if p.GetActivityType().GetName() == name && p.GetState() == enums.PENDING_ACTIVITY_STATE_STARTED && strings.Contains(said.Note, words) {
					return id, said.Note
				}
			}
		}
	}
	b.t.Fatalf("none of %q is at an activity %s that says %q", ids, name, words)
	return "", ""
}

// awaitRest waits until one of two runs waits for the other's step, and returns it, the other,
// and what it says.
func (b *bench) awaitRest(x, y client.WorkflowRun) (rests, works client.WorkflowRun, note string) {
	b.t.Helper()
	id, note := b.awaitActivity(workflows.RestActivity, "waiting for", x.GetID(), y.GetID())
	if id == x.GetID() {
		return x, y, note
	}
	return y, x, note
}

// awaitState waits until the state of one of the runs is as wanted.
func (b *bench) awaitState(wanted func(workflows.State) bool, runs ...client.WorkflowRun) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var last workflows.State
	var lastErr error
	for ctx.Err() == nil {
		for _, r := range runs {
			s, err := workflows.Ask[workflows.State](ctx, b.c, r.GetID(), workflows.StateQuery)
			if err == nil && wanted(s) {
				return
			}
			last, lastErr = s, err // an error: it has not started yet
		}
	}
	b.t.Fatalf("no run came to that; the state of the last one is %+v, %v", last, lastErr)
}

// steps are the states of a run's steps.
func (b *bench) steps(w client.WorkflowRun) []workflows.StepState {
	b.t.Helper()
	c, err := workflows.Ask[workflows.Changes](b.t.Context(), b.c, w.GetID(), workflows.ChangesQuery, 0)
	if err != nil || c.More {
		b.t.Fatal(err, c.More)
	}
	return c.Steps
}

// next is what the next held step says. It fails instead of waiting for ever.
func (b *bench) next() string {
	b.t.Helper()
	select {
	case text := <-b.held:
		return text
	case <-time.After(2 * time.Minute):
		b.t.Fatal("no step was started or stopped for two minutes")
		return ""
	}
}

// says waits for the next held step, which must say a text.
func (b *bench) says(text string) {
	b.t.Helper()
	if got := b.next(); got != text {
		b.t.Fatalf("the next step says %q, not %q", got, text)
	}
}
