package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

// planTries bounds the plans of one `redsi run`, in case sources change faster than they can
// be planned.
const planTries = 5

// afterChange plans again after a run that failed because a source or program did not have
// the bytes that were planned: it changed in between, or a remembered checksum was wrong. Any
// other failure, or one after which the plan is the same, is returned as it is.
func (a *app) afterChange(ctx context.Context, o runOptions, p *pipeline.Pipeline, old *plan.Plan, failure error) (*plan.Plan, error) {
	var failed *workflows.RunError
	if !errors.As(failure, &failed) || len(failed.Result.Changed) == 0 {
		return nil, failure
	}
	next, err := a.PlanAgain(ctx, p, a.File, a.Targets, failed.Result.Changed)
	if err != nil {
		return nil, errors.Join(failure, err)
	}
	var other []string
	for i, s := range next.Steps {
		if !bytes.Equal(s.Task.Config, old.Steps[i].Task.Config) {
			other = append(other, s.Address)
		}
	}
	switch {
	case len(other) == 0:
		return nil, failure
	case o.saved != nil:
		return nil, fault.Failed(fmt.Errorf("%w\n%s changed after the plan was saved: plan again", failed, strings.Join(other, ", ")))
	}
	a.Log.Warn("a source or program changed while it was planned or run; planned again", "steps", strings.Join(other, ", "))
	return next, nil
}
