package workflows

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/runs"
)

// CancelStepsUpdate asks a run to cancel the steps of an address, or of a block, that have not ended. Steps that need
// them are cancelled, too; the run does all others. It answers with the addresses of the steps that were asked for.
const CancelStepsUpdate = "cancel-steps"

// stepCancelled is the error of a step that was cancelled, but not with its run.
const stepCancelled = "it was cancelled by itself"

// updates sets the handler of CancelStepsUpdate.
func (r *run) updates(ctx workflow.Context) error {
	refuse := func(format string, args ...any) error {
		return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), PermanentError, nil)
	}
	return workflow.SetUpdateHandler(ctx, CancelStepsUpdate, func(_ workflow.Context, target string) (cancelled []string, err error) {
		if r.progress == nil {
			return nil, refuse("the run has not loaded its plan: ask again in a moment")
		}
		found := false
		for i := range r.steps {
			s := &r.steps[i]
			if s.Address != target && address.Of(s.Address).Block() != target {
				continue
			}
			found = true
			switch {
			case s.Status != runs.Waiting && s.Status != runs.Running:
			case len(r.heads[i].Awaits) > 0:
				return nil, refuse("%s: which steps it is depends on what others make: ask again when these have run, or cancel the run", s.Address)
			default:
				cancelled = append(cancelled, s.Address)
				r.cancelStep(i)
			}
		}
		switch {
		case !found:
			return nil, refuse("the run has no step %s: redsi status --run %s lists its steps", target, r.id)
		case len(cancelled) == 0:
			return nil, refuse("%s has ended: redsi status --run %s says how", target, r.id)
		}
		r.changed = true
		return cancelled, nil
	})
}

// cancelStep takes a step from the worker that has it, and notes that it was cancelled. If the step is at work, the
// others of its batch are asked for again; if it is not, the batch goes on and its outcome is ignored.
func (r *run) cancelStep(i int) {
	for _, w := range r.given {
		if !w.left[i] {
			continue
		}
		delete(w.left, i)
		r.held[i] = false
		if !w.isBatch() || r.steps[i].Status == runs.Running {
			w.stopped = true
			w.stop()
		}
	}
	r.steps[i].Error = stepCancelled
	r.set(i, runs.Cancelled)
	r.skip(i)
}
