package drive

import (
	"context"
	"slices"
	"sync"

	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/workflows"
)

// watched keeps the state of followed runs, by workflow: a run reports only changes, however
// many steps it has.
type watched struct {
	mu   sync.Mutex
	runs map[string]*watchedRun
}

type watchedRun struct {
	execution string
	next      int
	steps     []workflows.StepState
}

// State asks a run for what has changed and returns its whole state.
func (dr *Driver) State(ctx context.Context, c client.Client, workflow string) (workflows.State, error) {
	dr.watched.mu.Lock()
	defer dr.watched.mu.Unlock()
	if dr.watched.runs == nil {
		dr.watched.runs = map[string]*watchedRun{}
	}
	w := dr.watched.runs[workflow]
	if w == nil {
		w = &watchedRun{}
		dr.watched.runs[workflow] = w
	}
	for {
		qctx, cancel := context.WithTimeout(ctx, dr.Waits.Unseen)
		news, err := workflows.Ask[workflows.Changes](qctx, c, workflow, workflows.ChangesQuery, w.next)
		cancel()
		if err != nil {
			return workflows.State{}, err
		}
		if news.Execution != w.execution { // the run continues in another execution, which counts anew
			again := w.next > 0
			w.execution, w.next = news.Execution, 0
			if again {
				continue
			}
		}
		if len(w.steps) != news.Total {
			w.steps = make([]workflows.StepState, news.Total)
		}
		for _, s := range news.Steps {
			w.steps[s.Index] = s
		}
		if w.next = news.Next; !news.More {
			return workflows.State{RunID: news.RunID, Plan: news.Plan, Again: news.Again, Steps: slices.Clone(w.steps)}, nil
		}
	}
}
