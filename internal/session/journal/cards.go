package journal

import (
	"context"

	"github.com/redsi/redsi/artifacts"
	cardhours "github.com/redsi/redsi/internal/pipeline/hours"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// HeldForHours bounds the results of steps on cards that are held to see how long they took.
const HeldForHours = 2048

// TookOnCard is how long a result took, if it was made on a card.
func TookOnCard(r *artifacts.Result) []cardhours.Took {
	if r == nil || r.Used == nil || r.Used.Card == "" || r.Used.CardMemory == 0 {
		return nil
	}
	return []cardhours.Took{{Card: r.Used.Card, Took: r.Took}}
}

// OnCards is how long the newest earlier results of steps on cards took, for at most
// HeldForHours steps.
func (j *Journal) OnCards(ctx context.Context, store artifacts.Store, v *plan.Preview) (map[int][]cardhours.Took, error) {
	keys := map[int]artifacts.Digest{}
	var all []artifacts.Digest
	for i, s := range v.Plan.Steps {
		if spent := j.spent[s.Address]; s.Queue == "gpu" && v.Items[i].Outcome != plan.Hit && len(spent) > 0 && len(all) < HeldForHours {
			keys[i] = spent[0].key
			all = append(all, spent[0].key)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	entries, err := artifacts.Inspect(ctx, store, all)
	if err != nil {
		return nil, err
	}
	out := map[int][]cardhours.Took{}
	for i, key := range keys {
		out[i] = TookOnCard(entries[key].Result)
	}
	return out, nil
}
