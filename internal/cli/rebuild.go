package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/plan"
	"github.com/redsi/redsi/internal/view"
	"github.com/redsi/redsi/workflows"
)

// rebuilt is how a step that was run again compares with its result.
type rebuilt struct {
	Address string       `json:"address"`
	Same    bool         `json:"same"`
	TookS   float64      `json:"took_s"`
	Clock   []string     `json:"clock,omitempty"`   // outputs that differ in what they tell of the run alone, such as its seconds
	Differs []outputDiff `json:"differs,omitempty"` // a: the result that stands, b: what this run made
}

// rebuild runs steps that have results again, here, and compares.
func (a *app) rebuild(ctx context.Context, target string) error {
	a.Targets = []string{target}
	v, store, err := a.preview(ctx)
	if err != nil {
		return err
	}
	acts := a.activities(store, nil, workflows.Features{})
	reports := []rebuilt{}
	differ := 0
	for i, s := range v.Plan.Steps {
		it := v.Items[i]
		if !plan.Matches(target, s.Address) {
			continue
		}
		if it.Result == nil {
			return fmt.Errorf("%s has no result to compare with: %s", s.Address, a.hint("run", "--target", s.Address))
		}
		again, err := acts.Rebuild(ctx, s.Address, it.Key, it.Task)
		if err != nil {
			return err
		}
		r := rebuilt{Address: s.Address, Same: again.Same, TookS: again.Made.Took.Seconds(), Clock: again.Clock}
		if !r.Same {
			r.Differs = diffOutputs(again.Stands.Outputs, again.Made.Outputs)
			differ++
		}
		reports = append(reports, r)
	}
	if a.JSON {
		err = view.WriteJSON(a.Out, reports)
	} else {
		a.printRebuilt(reports)
	}
	if err == nil && differ > 0 {
		err = &exitError{exitFailed, fmt.Errorf("%d of %d steps gave other bytes than before; the first results stay, the others are recorded as non-determinism", differ, len(reports))}
	}
	return err
}

func (a *app) printRebuilt(reports []rebuilt) {
	for _, r := range reports {
		word := "the same bytes"
		if !r.Same {
			word = "DIFFERS"
		} else if len(r.Clock) > 0 {
			word += " but for times in " + strings.Join(r.Clock, ", ")
		}
		view.Printf(a.Out, "%s  %s, %s\n", r.Address, word, view.Seconds(seconds(r.TookS)))
		for _, d := range r.Differs {
			view.Printf(a.Out, "       output %s: %s, now %s\n", d.Output, shortDigest(d.A), shortDigest(d.B))
		}
	}
}
