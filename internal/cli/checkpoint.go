package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// checkpoint is how far a step without a result is.
type checkpoint struct {
	Address string `json:"address"`
	At      int64  `json:"at"`
	Of      int64  `json:"of,omitempty"`     // 0: not known
	Unit    string `json:"unit,omitempty"`   // of both
	Onward  bool   `json:"onward,omitempty"` // kept by another, shorter step
}

// String is a reason such as: has a checkpoint at step 600 of 1,000.
func (c checkpoint) String() string {
	text := "has a checkpoint"
	if c.Onward {
		text = "continues from a shorter step's checkpoint"
	}
	if c.Unit != "" {
		text += fmt.Sprintf(" at %s %s", c.Unit, humanize.Comma(c.At))
	}
	if c.Of > 0 {
		text += " of " + humanize.Comma(c.Of)
	}
	return text
}

// checkpoints finds those of steps of a plan, by their keys.
func (a *app) checkpoints(ctx context.Context, store artifacts.Store, pl *plan.Plan, keys map[int]artifacts.Digest) (map[int]checkpoint, error) {
	found := map[int]checkpoint{}
	if len(keys) == 0 {
		return found, nil
	}
	newest, err := artifacts.NewestCheckpoints(ctx, store.Records)
	if err != nil {
		return found, fmt.Errorf("checkpoints: %w", err)
	}
	for i, key := range keys {
		at, ok := newest[key]
		if !ok {
			continue
		}
		s := pl.Steps[i]
		c := checkpoint{Address: s.Address, At: at}
		if spec := a.Registry.Lookup(s.Task.Kind); spec != nil {
			c.Unit, c.Of = spec.Counts, number(s.Task.Config, spec.CountsTo)
		}
		found[i] = c
	}
	return found, nil
}

// resumable are the checkpoints that the steps of a preview without a result continue from,
// their own or another step's.
func (a *app) resumable(ctx context.Context, store artifacts.Store, v *plan.Preview) (map[int]checkpoint, error) {
	keys := map[int]artifacts.Digest{}
	for i, it := range v.Items {
		if it.Outcome == plan.Run {
			keys[i] = it.Key
		}
	}
	found, err := a.checkpoints(ctx, store, v.Plan, keys)
	if err != nil {
		return found, err
	}
	for i := range keys {
		if _, own := found[i]; own {
			continue
		}
		c, err := a.keptFor(ctx, store, v.Plan.Steps[i].Address, v.Items[i].Task)
		if err != nil {
			return found, fmt.Errorf("checkpoints: %w", err)
		}
		if c != nil {
			found[i] = *c
		}
	}
	return found, nil
}

// keptFor is the state of another step that a task continues from; nil: none.
func (a *app) keptFor(ctx context.Context, store artifacts.Store, address string, task step.Task) (*checkpoint, error) {
	key, ok, err := a.Registry.Trajectory(task)
	if err != nil || !ok {
		return nil, err
	}
	spec := a.Registry.Lookup(task.Kind)
	c := checkpoint{Address: address, Unit: spec.Counts, Of: number(task.Config, spec.CountsTo), Onward: true}
	c.At, err = artifacts.FurthestCheckpoint(ctx, store.Records, key, c.Of)
	if err != nil || c.At == 0 {
		return nil, err
	}
	return &c, nil
}

// number is an attribute of a configuration; 0 if that has no such number.
func number(config []byte, attribute string) (n int64) {
	var attrs map[string]json.RawMessage
	if json.Unmarshal(config, &attrs) != nil || json.Unmarshal(attrs[attribute], &n) != nil {
		return 0
	}
	return n
}
