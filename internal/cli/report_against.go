package cli

import (
	"context"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/workflows"
)

// explained bounds the steps for which a comparison says what differs in their keys; for more
// it only says that they differ.
const explained = 1000

// against reads another run's results of a preview's steps.
func (a *app) against(ctx context.Context, store artifacts.Store, v *plan.Preview, name string) (*report.Against, error) {
	run, err := a.findRun(ctx, store, name)
	if err != nil {
		return nil, err
	}
	was := make(map[string]workflows.RunStep, len(run.Steps))
	for _, s := range run.Steps {
		was[s.Address] = s
	}
	out := &report.Against{Run: run.RunID, Results: map[string]*artifacts.Result{}}
	var keys []artifacts.Digest // of results to read: tables, figures, and steps that differ
	var differ []int
	for i, it := range v.Items {
		s, ok := was[v.Plan.Steps[i].Address]
		same := ok && !s.Key.IsZero() && s.Key == it.Key
		if same {
			out.Same++
		} else {
			differ = append(differ, i)
		}
		if ok && !s.Key.IsZero() && (report.IsItem(s.Address) || !same && len(differ) <= explained) {
			keys = append(keys, s.Key)
		}
	}
	entries, err := artifacts.Inspect(ctx, store, keys)
	if err != nil {
		return nil, err
	}
	for i := range v.Items {
		if address := v.Plan.Steps[i].Address; report.IsItem(address) {
			if r := entries[was[address].Key].Result; r != nil {
				out.Results[address] = r
			}
		}
	}
	for _, i := range differ {
		address := v.Plan.Steps[i].Address
		why, err := differs(was[address], &v.Items[i], entries)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		out.Changed = append(out.Changed, report.Changed{Step: address, Why: why})
	}
	return out, nil
}

// differs says why a step's key differs from that in a run.
func differs(s workflows.RunStep, it *plan.Item, entries map[artifacts.Digest]artifacts.Entry) ([]string, error) {
	switch r := entries[s.Key].Result; {
	case s.Address == "":
		return []string{"not in that run"}, nil
	case s.Key.IsZero() || !finished(s):
		return []string{"there: " + string(s.Outcome)}, nil
	case it.Preimage == nil:
		return []string{"here: not known until its inputs are made"}, nil
	case r == nil:
		return []string{"a different key; that result is no longer in the store"}, nil
	default:
		changes, err := comparePreimages(r.Preimage, it.Preimage)
		var why []string
		for _, c := range changes {
			why = append(why, c.String())
		}
		return why, err
	}
}
