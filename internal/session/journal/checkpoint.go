package journal

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

type Checkpoint struct {
	Address string `json:"address"`
	At      int64  `json:"at"`
	Of      int64  `json:"of,omitempty"`     // 0: unknown
	Unit    string `json:"unit,omitempty"`   // of both
	Onward  bool   `json:"onward,omitempty"` // kept by another, shorter step
}

// String is a reason such as: has a checkpoint at step 600 of 1,000.
func (c Checkpoint) String() string {
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

// Checkpoints finds the checkpoints of a plan's steps, by their keys.
func Checkpoints(ctx context.Context, kinds *step.Registry, store artifacts.Store, pl *plan.Plan, keys map[int]artifacts.Digest) (map[int]Checkpoint, error) {
	found := map[int]Checkpoint{}
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
		c := Checkpoint{Address: s.Address, At: at}
		if spec := kinds.Lookup(s.Task.Kind); spec != nil {
			c.Unit, c.Of = spec.Counts, number(s.Task.Config, spec.CountsTo)
		}
		found[i] = c
	}
	return found, nil
}

// Resumable finds the checkpoints that the steps of a preview without a result continue from, their own or another step's.
func Resumable(ctx context.Context, kinds *step.Registry, store artifacts.Store, v *plan.Preview) (map[int]Checkpoint, error) {
	keys := map[int]artifacts.Digest{}
	for i, it := range v.Items {
		if it.Outcome == plan.Run {
			keys[i] = it.Key
		}
	}
	found, err := Checkpoints(ctx, kinds, store, v.Plan, keys)
	if err != nil {
		return found, err
	}
	for i := range keys {
		if _, own := found[i]; own {
			continue
		}
		c, err := keptFor(ctx, kinds, store, v.Plan.Steps[i].Address, v.Items[i].Task())
		if err != nil {
			return found, fmt.Errorf("checkpoints: %w", err)
		}
		if c != nil {
			found[i] = *c
		}
	}
	return found, nil
}

// keptFor finds the checkpoint of another step that a task continues from; nil: none.
func keptFor(ctx context.Context, kinds *step.Registry, store artifacts.Store, address string, task step.Task) (*Checkpoint, error) {
	key, ok, err := kinds.Trajectory(task)
	if err != nil || !ok {
		return nil, err
	}
	spec := kinds.Lookup(task.Kind)
	c := Checkpoint{Address: address, Unit: spec.Counts, Of: number(task.Config, spec.CountsTo), Onward: true}
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
