package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/plan"
	"github.com/redsi/redsi/internal/view"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// journal is what earlier runs of a pipeline left, by step address.
type journal struct {
	took view.History
	key  map[string]artifacts.Digest // of the newest result
	run  map[string]string

	saved map[int]checkpoint // of steps without a result, by their place in the plan
	ended map[string]string  // how steps without a result ended last

	moved map[string]int // steps whose newest result has a key of another format, by that
}

// runsRead bounds how many run records are read for a plan, newest first.
const runsRead = 20

// journalOf reads what the newest run records of a pipeline of this project say of the
// steps that are no hits.
func (a *app) journalOf(ctx context.Context, store artifacts.Store, v *plan.Preview) (*journal, error) {
	j := &journal{took: view.History{}, key: map[string]artifacts.Digest{}, run: map[string]string{}, moved: map[string]int{}, ended: map[string]string{}}
	wanted := map[string]bool{}
	keys := map[int]artifacts.Digest{}
	for i, it := range v.Items {
		if it.Outcome != plan.Hit {
			wanted[v.Plan.Steps[i].Address] = true
		}
		if it.Outcome == plan.Run {
			keys[i] = it.Key
		}
	}
	if len(wanted) == 0 {
		return j, nil
	}
	defer a.waiting("reading what earlier runs left")()
	var err error
	if j.saved, err = a.checkpoints(ctx, store, v.Plan, keys); err != nil {
		return nil, err
	}
	project := a.project()
	var names []string
	for r, err := range store.Records.List(ctx, runPrefix) {
		if err != nil {
			return nil, err
		}
		names = append(names, r.Name)
	}
	for i := len(names) - 1; i >= 0 && i >= len(names)-runsRead && len(wanted) > 0; i-- {
		rec, err := activities.ReadRun(ctx, store, strings.TrimPrefix(names[i], runPrefix))
		var damaged *activities.DamagedRunError
		if err != nil && !errors.As(err, &damaged) {
			return nil, err
		}
		if err != nil || !rec.Of(project, v.Plan.Pipeline) {
			continue
		}
		for _, s := range rec.Steps {
			if wanted[s.Address] && j.ended[s.Address] == "" {
				switch s.Outcome {
				case workflows.Failed:
					j.ended[s.Address] = "failed in run " + rec.RunID
				case workflows.Cancelled:
					j.ended[s.Address] = "was cancelled in run " + rec.RunID
				}
			}
			if !wanted[s.Address] || s.Key.IsZero() || s.Outcome != workflows.Hit && s.Outcome != workflows.Ran {
				continue
			}
			j.key[s.Address], j.run[s.Address] = s.Key, rec.RunID
			j.took[s.Address] = seconds(s.TookS)
			delete(wanted, s.Address)
		}
	}
	return j, nil
}

// reasons says in a few words why each RUN step must run: what differs from the
// step's newest result, or that there is none.
func (a *app) reasons(ctx context.Context, store artifacts.Store, v *plan.Preview, past *journal) (map[int]string, error) {
	why := map[int]string{}
	for i, it := range v.Items {
		if it.Outcome != plan.Run {
			continue
		}
		changes, note, err := a.changes(ctx, store, v, i, past)
		if err != nil {
			return nil, err
		}
		if len(changes) == 0 {
			why[i] = note
			continue
		}
		var words []string
		for n, c := range changes {
			if n == 3 {
				words = append(words, fmt.Sprintf("%d more", len(changes)-3))
				break
			}
			words = append(words, c.String())
		}
		if resumes, ok := past.saved[i]; ok {
			words = append(words, resumes.String())
		}
		why[i] = strings.Join(words, "; ")
	}
	return why, nil
}

// changes compares a step's preimage with that of its newest result.
func (a *app) changes(ctx context.Context, store artifacts.Store, v *plan.Preview, i int, past *journal) ([]step.Change, string, error) {
	address := v.Plan.Steps[i].Address
	old, ok := past.key[address]
	if resumes, saved := past.saved[i]; saved && !ok {
		return nil, resumes.String(), nil
	}
	if !ok {
		return nil, cmp.Or(past.ended[address], "has never run here"), nil
	}
	entries, err := artifacts.Inspect(ctx, store, []artifacts.Digest{old})
	if err != nil {
		return nil, "", err
	}
	e := entries[old]
	var other *artifacts.FormatError
	if errors.As(e.Damage, &other) {
		past.moved[other.Format]++
	}
	if e.Result == nil {
		return nil, e.Miss(), nil
	}
	if old == v.Items[i].Key {
		return nil, e.Miss(), nil
	}
	changes, err := comparePreimages(e.Result.Preimage, v.Items[i].Preimage)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", address, err)
	}
	return changes, "", nil
}
