package cli

import (
	"context"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/workflows"
)

// renderedIn reads a run's results of tables and figures, by address; those that are no
// longer in the store are missing.
func (a *app) renderedIn(ctx context.Context, store artifacts.Store, name string) (map[string]*artifacts.Result, error) {
	run, err := a.FindRun(ctx, store, name)
	if err != nil {
		return nil, err
	}
	steps := slices.DeleteFunc(run.Steps, func(s workflows.RunStep) bool { return !pipeline.IsRendered(s.Address) || s.Key.IsZero() })
	var keys []artifacts.Digest
	for _, s := range steps {
		keys = append(keys, s.Key)
	}
	entries, err := artifacts.Inspect(ctx, store, keys)
	if err != nil {
		return nil, err
	}
	results := map[string]*artifacts.Result{}
	for _, s := range steps {
		if r := entries[s.Key].Result; r != nil {
			results[s.Address] = r
		}
	}
	return results, nil
}
