package workflows

import (
	"fmt"
	"sort"

	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/internal/runs"
)

// Bounds of one answer to a query.
const (
	changesShown = 1000      // steps
	changesBytes = 256 << 10 // of their texts
	activeShown  = 100
)

// queries lets a run be looked at while it works, and when it has ended.
func (r *run) queries(ctx workflow.Context) error {
	execution := workflow.GetInfo(ctx).WorkflowExecution.RunID
	err := workflow.SetQueryHandler(ctx, ChangesQuery, func(since int) (Changes, error) { return r.changesSince(execution, since), nil })
	if err != nil {
		return err
	}
	return workflow.SetQueryHandler(ctx, StateQuery, func() (State, error) { return r.state(), nil })
}

// state is for people: counts, and the running or failed steps, not all of many.
func (r *run) state() State {
	s := State{RunID: r.id, Restarted: r.restarted}
	if r.progress == nil {
		return s
	}
	s.Counts, s.Plan = r.counts(), r.loaded.Plan
	for _, x := range r.steps {
		if (x.Status == runs.Running || x.Status == runs.Failed) && len(s.Steps) < activeShown {
			s.Steps = append(s.Steps, x)
		}
	}
	return s
}

// changesSince lists what has changed after a number of changes, oldest first.
func (r *run) changesSince(execution string, since int) Changes {
	c := Changes{RunID: r.id, Execution: execution, Restarted: r.restarted, Next: since}
	if r.progress == nil {
		return c
	}
	c.Total, c.Plan = len(r.steps), r.loaded.Plan
	if n := len(r.moves); n > 0 { // the steps have other places
		c.Execution += fmt.Sprintf(" grown %d", n)
	}
	var changed []int
	for i, at := range r.at {
		if at > since {
			changed = append(changed, i)
		}
	}
	sort.Slice(changed, func(x, y int) bool { return r.at[changed[x]] < r.at[changed[y]] })
	bytes := 0
	for n, i := range changed {
		s := r.steps[i]
		if bytes += len(s.Address) + len(s.Error) + len(s.Workflow) + 100; n == changesShown || n > 0 && bytes > changesBytes {
			c.More = true
			break
		}
		c.Steps = append(c.Steps, s)
		c.Next = r.at[i]
	}
	return c
}
