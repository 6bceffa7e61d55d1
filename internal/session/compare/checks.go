package compare

import (
	"context"
	"errors"
	"fmt"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/workflows"
)

// Check is a comparison with an expectation whose verdict changed.
type Check struct {
	A    render.Verdict `json:"a,omitempty"` // "": only in the second run
	B    render.Verdict `json:"b"`
	Said string         `json:"said"` // the expectation, and what the second run has
}

// asks are the configurations of a run's tables and figures by address, for their
// expectations, which are not part of keys. None if the run's plan has gone.
func asks(ctx context.Context, store artifacts.Store, r *workflows.RunRecord) (map[string][]byte, error) {
	p, err := activities.ReadPlan(ctx, store.Blobs, r.Plan)
	if errors.Is(err, artifacts.ErrNotExist) || r.Plan.IsZero() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	configs := map[string][]byte{}
	for _, s := range p.Steps {
		if pipeline.IsRendered(s.Address) {
			configs[s.Address] = s.Task.Config
		}
	}
	return configs, nil
}

// diffChecks compares the verdicts on two results of a table or figure by the second run's
// expectations.
func diffChecks(ctx context.Context, store artifacts.Store, address string, config []byte, was, is *artifacts.Result) (ds []Check, err error) {
	if config == nil {
		return nil, nil
	}
	before, err := expect.Result(ctx, address, config, was, store.Blobs.Open)
	if err != nil {
		return nil, err
	}
	after, err := expect.Result(ctx, address, config, is, store.Blobs.Open)
	if err != nil {
		return nil, err
	}
	verdicts := map[string]render.Verdict{}
	name := func(c render.Check) string { return fmt.Sprintf("%s %s %s %s", c.Cell, c.Form, c.Text, c.Scale) }
	for _, c := range before {
		verdicts[name(c)] = c.Verdict
	}
	for _, c := range after {
		if a := verdicts[name(c)]; a != c.Verdict {
			ds = append(ds, Check{a, c.Verdict, c.Said()})
		}
	}
	return ds, nil
}
