package accept

import (
	"context"
	"fmt"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/words"
)

// acceptables returns the steps of a target that must run and have an earlier result, and why the others do not qualify.
func (ac *accepter) acceptables(ctx context.Context) (todo []Step, left []string, err error) {
	v, err := ac.PreviewOf(ctx, ac.store, ac.plan, plan.KeepNone)
	if err != nil {
		return nil, nil, err
	}
	past, err := ac.Journal(ctx, ac.store.Own, v)
	if err != nil {
		return nil, nil, err
	}
	given, notKey := artifacts.ParseDigest("sha256:" + strings.TrimPrefix(ac.Of, "sha256:"))
	keys, lacks := past.Last, func(address string) string { return address + " has no earlier result from a run here: give --of KEY" }
	if notKey != nil && ac.Of != "" {
		rec, err := ac.FindRun(ctx, ac.store.Own, ac.Of)
		if err != nil {
			return nil, nil, err
		}
		keys, lacks = map[string]journal.Earlier{}, func(address string) string { return fmt.Sprintf("run %s has no result of %s", rec.RunID, address) }
		for _, s := range rec.Steps {
			if s.Finished() {
				keys[s.Address] = journal.Earlier{Run: rec.RunID, Key: s.Key}
			}
		}
	}
	for i, s := range ac.plan.Steps {
		it := v.Items[i]
		switch {
		case !plan.Matches(ac.target, s.Address):
			continue
		case it.Outcome == plan.Hit:
			left = append(left, s.Address+isHit)
			continue
		case it.Outcome == plan.Maybe:
			left = append(left, fmt.Sprintf("the key of %s is not determined until %s has run or is accepted", s.Address, ac.plan.Steps[it.Snags().Waits[0]].Address))
			continue
		}
		x := Step{Address: s.Address, Key: it.Key, Of: given, preimage: it.Preimage}
		if notKey != nil {
			earlier, ok := keys[s.Address]
			if !ok {
				left = append(left, lacks(s.Address))
				continue
			}
			x.Of = earlier.Key
		}
		why, err := ac.fits(ctx, s, &x)
		if err != nil {
			return nil, nil, err
		}
		if why != "" {
			left = append(left, why)
			continue
		}
		todo = append(todo, x)
	}
	if notKey == nil && len(todo) > 1 {
		return nil, nil, fault.Input(fmt.Errorf("--of %s is the result of one step, but %s has %d steps that must run: name one", ac.Of, ac.target, len(todo)))
	}
	return todo, left, nil
}

// fits fills in the result to accept for a step, or says why it cannot be used.
func (ac *accepter) fits(ctx context.Context, s plan.Step, x *Step) (why string, err error) {
	if x.Of == x.Key {
		return fmt.Sprintf("nothing has changed for %s: its result is incomplete in the store and must be rebuilt", s.Address), nil
	}
	entries, err := artifacts.Inspect(ctx, ac.store, []artifacts.Digest{x.Of})
	if err != nil {
		return "", err
	}
	e := entries[x.Of]
	if !e.Hit() {
		return fmt.Sprintf("the earlier result of %s, %s, cannot be used: %s", s.Address, x.Of.Short(), e.Miss()), nil
	}
	x.result = e.Result
	if x.Changes, err = session.ComparePreimages(e.Result.Preimage, x.preimage); err != nil {
		return "", fmt.Errorf("%s: %w", s.Address, err)
	}
	for _, c := range x.Changes {
		if c.Path == "kind" {
			return fmt.Sprintf("the result %s is of kind %s, and %s is of kind %s", x.Of.Short(), c.Old, s.Address, c.New), nil
		}
	}
	spec := ac.Registry.Lookup(s.Task.Kind)
	expected := len(spec.Outputs)
	for _, out := range spec.Outputs {
		have, ok := e.Result.Outputs[out.Name]
		if !ok && out.Optional {
			expected--
			continue
		}
		if !ok || have.Type != out.Type || out.Tree != (have.Files != nil) {
			return fmt.Sprintf("the earlier result of %s has no output %s of type %s, which kind %s has today", s.Address, out.Name, out.Type, spec.Name), nil
		}
	}
	if len(e.Result.Outputs) != expected {
		return fmt.Sprintf("the earlier result of %s has %s, but kind %s has %d today", s.Address, words.Count(len(e.Result.Outputs), "output"), spec.Name, expected), nil
	}
	return "", nil
}
