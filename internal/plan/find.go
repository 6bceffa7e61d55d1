package plan

import (
	"context"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/step"
)

// Find looks results of tasks up by their keys and, where there is none, by the keys that
// the tasks had in older formats. The answer is by the present key; a result says by its
// own Key under which it is filed, and goes by that from then on.
func Find(ctx context.Context, reg *step.Registry, lookup Lookup, tasks map[artifacts.Digest]step.Task) (map[artifacts.Digest]*artifacts.Result, error) {
	keys := make([]artifacts.Digest, 0, len(tasks))
	for k := range tasks {
		keys = append(keys, k)
	}
	found, err := lookup(ctx, keys)
	if err != nil {
		return nil, err
	}
	var older []artifacts.Digest
	now := map[artifacts.Digest][]artifacts.Digest{}
	for k, t := range tasks {
		if found[k] != nil {
			continue
		}
		if now[k], err = reg.OlderKeys(t); err != nil {
			return nil, err
		}
		older = append(older, now[k]...)
	}
	if len(older) == 0 {
		return found, nil
	}
	old, err := lookup(ctx, older)
	if err != nil {
		return nil, err
	}
	for k, was := range now {
		for _, o := range was {
			if found[k] == nil && old[o] != nil {
				found[k] = old[o]
			}
		}
	}
	return found, nil
}
