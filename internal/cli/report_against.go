package cli

import (
	"context"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
)

// renderedIn reads a run's results of tables and figures, by address; those that are no
// longer in the store are missing.
func (a *app) renderedIn(ctx context.Context, store artifacts.Store, name string) (map[string]*artifacts.Result, error) {
	run, err := a.FindRun(ctx, store, name)
	if err != nil {
		return nil, err
	}
	of := map[artifacts.Digest][]string{}
	var keys []artifacts.Digest
	for _, s := range run.Steps {
		if pipeline.IsRendered(s.Address) && !s.Key.IsZero() {
			keys, of[s.Key] = append(keys, s.Key), append(of[s.Key], s.Address)
		}
	}
	entries, err := artifacts.Inspect(ctx, store, keys)
	if err != nil {
		return nil, err
	}
	results := map[string]*artifacts.Result{}
	for key, e := range entries {
		for _, address := range of[key] {
			if e.Result != nil {
				results[address] = e.Result
			}
		}
	}
	return results, nil
}
