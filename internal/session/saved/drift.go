package saved

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/step"
)

// drift is a step that is no longer as it was planned.
type drift struct {
	Address string        `json:"address"`
	What    string        `json:"what"` // "changed", "new" or "gone"
	Changes []step.Change `json:"changes,omitempty"`
}

// Drifts are what differs in a preview from the saved plan.
func (s *Plan) Drifts(v *plan.Preview) ([]drift, error) { return driftOf(s.Steps, steps(v)) }

// driftOf compares two plans: keys where both are known, else configurations.
func driftOf(before, after []Step) ([]drift, error) {
	now := map[string]Step{}
	for _, s := range after {
		now[s.Address] = s
	}
	var out []drift
	for _, old := range before {
		s, ok := now[old.Address]
		delete(now, old.Address)
		if !ok {
			out = append(out, drift{Address: old.Address, What: "gone"})
			continue
		}
		x, y := []byte(old.Preimage), []byte(s.Preimage)
		same := old.Key != nil && s.Key != nil && *old.Key == *s.Key
		if old.Key == nil || s.Key == nil {
			var err1, err2 error
			x, err1 = json.Marshal(old.Task)
			y, err2 = json.Marshal(s.Task)
			if err := errors.Join(err1, err2); err != nil {
				return nil, err
			}
			same = bytes.Equal(x, y)
		}
		if same {
			continue
		}
		changes, err := session.ComparePreimages(x, y)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", old.Address, err)
		}
		out = append(out, drift{Address: old.Address, What: "changed", Changes: changes})
	}
	for _, s := range after {
		if _, isNew := now[s.Address]; isNew {
			out = append(out, drift{Address: s.Address, What: "new"})
		}
	}
	return out, nil
}
