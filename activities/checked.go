package activities

import (
	"context"
	"errors"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/step"
)

// checked is the failure of a step whose result fails one of its checks. The result is kept:
// its key does not know of checks, and another run may have others.
func (a *Activities) checked(ctx context.Context, open step.Opener, address string, task step.Task, r *artifacts.Result) error {
	if len(task.Checks) == 0 {
		return nil
	}
	stops, warnings, err := task.Problems(ctx, r, open)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		a.Log.Warn(w, "step", address)
	}
	if len(stops) == 0 {
		return nil
	}
	return step.Permanent(errors.New(strings.Join(stops, "; ") + "; its result is kept, and nothing that reads it runs"))
}
