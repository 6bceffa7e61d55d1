package plan

import (
	"context"
	"fmt"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/step"
)

// Outcome is what a plan knows of a step.
type Outcome string

// The three outcomes before a run (design.md §4).
const (
	Hit   Outcome = "hit"   // its result is there and complete
	Run   Outcome = "run"   // its key is known and has no complete result
	Maybe Outcome = "maybe" // its key is not known until a step before it has run
)

// Lookup finds complete results by key; missing keys are left out of the map.
type Lookup func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error)

// Item is what is known of one step.
type Item struct {
	Outcome  Outcome
	Key      artifacts.Digest // zero for Maybe
	Preimage []byte
	Task     step.Task         // inputs bound; empty for Maybe
	Result   *artifacts.Result // for Hit
	Waits    []int             // for Maybe: the inputs that are not there
}

// Preview is what is known of every step of a plan, in its order.
type Preview struct {
	Plan  *Plan
	Items []Item
}

// Summary counts outcomes.
type Summary struct {
	Hit   int `json:"hit"`
	Run   int `json:"run"`
	Maybe int `json:"maybe"`
}

// Preview follows results as far as they go. Steps are looked up in waves, one
// batch of keys each, so the number of calls is the depth of the graph.
func (p *Plan) Preview(ctx context.Context, reg *step.Registry, lookup Lookup) (*Preview, error) {
	v := &Preview{Plan: p, Items: make([]Item, len(p.Steps))}
	left := make([]int, len(p.Steps))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		var ready, blocked []int
		for _, i := range left {
			switch v.state(i) {
			case inputsKnown:
				ready = append(ready, i)
			case inputsMissing:
				v.Items[i] = Item{Outcome: Maybe, Waits: v.missing(i)}
			default:
				blocked = append(blocked, i)
			}
		}
		if err := v.wave(ctx, reg, lookup, ready); err != nil {
			return nil, err
		}
		left = blocked
	}
	return v, nil
}

type inputState int

const (
	inputsPending inputState = iota
	inputsKnown
	inputsMissing
)

func (v *Preview) state(i int) inputState {
	s := inputsKnown
	for _, d := range v.Plan.Steps[i].Deps {
		switch v.Items[d].Outcome {
		case "":
			return inputsPending
		case Hit:
		default:
			s = inputsMissing
		}
	}
	return s
}

func (v *Preview) missing(i int) (waits []int) {
	for _, d := range v.Plan.Steps[i].Deps {
		if v.Items[d].Outcome != Hit {
			waits = append(waits, d)
		}
	}
	return waits
}

func (v *Preview) wave(ctx context.Context, reg *step.Registry, lookup Lookup, ready []int) error {
	keys := make([]artifacts.Digest, 0, len(ready))
	for _, i := range ready {
		bound, key, preimage, err := v.Plan.Bind(reg, i, func(d int) *artifacts.Result { return v.Items[d].Result })
		if err != nil {
			return err
		}
		v.Items[i] = Item{Outcome: Run, Key: key, Preimage: preimage, Task: bound}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil
	}
	found, err := lookup(ctx, keys)
	if err != nil {
		return err
	}
	for _, i := range ready {
		if r := found[v.Items[i].Key]; r != nil {
			v.Items[i].Outcome, v.Items[i].Result = Hit, r
		}
	}
	return nil
}

// Bind fills in the inputs of step i from the results of its dependencies and
// returns the task that can run, its key and the key's preimage.
func (p *Plan) Bind(reg *step.Registry, i int, result func(dep int) *artifacts.Result) (step.Task, artifacts.Digest, []byte, error) {
	s := p.Steps[i]
	byAddress := make(map[string]*artifacts.Result, len(s.Deps))
	for _, d := range s.Deps {
		byAddress[p.Steps[d].Address] = result(d)
	}
	bound, err := s.Task.Bind(func(r step.Ref) (artifacts.Artifact, error) {
		res := byAddress[r.Step]
		if res == nil {
			return artifacts.Artifact{}, fmt.Errorf("%s has no result yet", r.Step)
		}
		a, ok := res.Outputs[r.Output]
		if !ok {
			return artifacts.Artifact{}, fmt.Errorf("the stored result of %s has no output %q", r.Step, r.Output)
		}
		return a, nil
	})
	if err != nil {
		return step.Task{}, artifacts.Digest{}, nil, fmt.Errorf("%s: %w", s.Address, err)
	}
	key, preimage, err := reg.Key(bound)
	if err != nil {
		return step.Task{}, artifacts.Digest{}, nil, fmt.Errorf("%s: %w", s.Address, err)
	}
	return bound, key, preimage, nil
}

// Summary counts the outcomes.
func (v *Preview) Summary() (s Summary) {
	for _, it := range v.Items {
		switch it.Outcome {
		case Hit:
			s.Hit++
		case Run:
			s.Run++
		case Maybe:
			s.Maybe++
		}
	}
	return s
}

// Done reports whether there is nothing to run.
func (v *Preview) Done() bool { return v.Summary().Hit == len(v.Items) }

// Saved is the time that the hits took when they ran.
func (v *Preview) Saved() (d time.Duration) {
	for _, it := range v.Items {
		if it.Result != nil {
			d += time.Duration(it.Result.Took)
		}
	}
	return d
}
