package saved

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// Drift is a step that is no longer as it was planned.
type Drift struct {
	Address string        `json:"address"`
	What    string        `json:"what"` // "changed", "new" or "gone"
	Changes []step.Change `json:"changes,omitempty"`
}

// Drifted is the error of a plan that is no longer as it was saved.
type Drifted struct {
	Name   string
	Drifts []Drift
}

func (e *Drifted) Error() string {
	return fmt.Sprintf("%s no longer as planned in %s; nothing was run: plan again", words.Count(len(e.Drifts), "step"), e.Name)
}

// Refuse returns a Drifted if a preview is not of the saved plan; without one, any preview is.
func (s *Plan) Refuse(v *plan.Preview) error {
	if s == nil {
		return nil
	}
	drifts, err := driftOf(s.Steps, steps(v))
	if err != nil || len(drifts) == 0 {
		return err
	}
	return fault.Input(&Drifted{s.Name, drifts})
}

// driftOf compares two plans: keys where both are known, else configurations.
func driftOf(before, after []Step) ([]Drift, error) {
	now := map[string]Step{}
	for _, s := range after {
		now[s.Address] = s
	}
	var out []Drift
	for _, old := range before {
		s, ok := now[old.Address]
		delete(now, old.Address)
		if !ok {
			out = append(out, Drift{Address: old.Address, What: "gone"})
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
		out = append(out, Drift{Address: old.Address, What: "changed", Changes: changes})
	}
	for _, s := range after {
		if _, isNew := now[s.Address]; isNew {
			out = append(out, Drift{Address: s.Address, What: "new"})
		}
	}
	return out, nil
}
