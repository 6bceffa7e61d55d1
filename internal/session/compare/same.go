package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// Snapshot is what a run came to: small enough to lie beside a pipeline in version control.
type Snapshot struct {
	Format   string     `json:"format"` // SnapshotFormat
	Run      string     `json:"run"`
	Pipeline string     `json:"pipeline"`
	Steps    []Finished `json:"steps"` // by address

	tasks map[string]plan.Step // by address; nil of a file
}

const SnapshotFormat = "redsi-snapshot/1"

// Finished is what a step came to; without outputs, that it has no result.
type Finished struct {
	Address string                      `json:"address"`
	Key     artifacts.Digest            `json:"key,omitzero"`
	Outputs map[string]artifacts.Digest `json:"outputs,omitempty"`

	result *artifacts.Result
}

func Take(ctx context.Context, store *artifacts.Resolver, rec *runs.Record) (*Snapshot, error) {
	s := &Snapshot{Format: SnapshotFormat, Run: rec.RunID, Pipeline: rec.Pipeline}
	p, err := plan.Read(ctx, store, rec.Plan)
	switch {
	case err == nil:
		s.tasks = lists.By(p.Steps, func(x plan.Step) string { return x.Address })
	case !errors.Is(err, artifacts.ErrNotExist):
		return nil, err
	}
	for _, x := range rec.Steps {
		f := Finished{Address: x.Address}
		if x.Finished() {
			f.Key = x.Key
		}
		s.Steps = append(s.Steps, f)
	}
	if err := s.look(ctx, store, true); err != nil {
		return nil, err
	}
	slices.SortFunc(s.Steps, func(a, b Finished) int { return strings.Compare(a.Address, b.Address) })
	return s, nil
}

// look fills in the results that a store has of the steps, unless a file says other outputs.
func (s *Snapshot) look(ctx context.Context, store *artifacts.Resolver, isNew bool) error {
	keys := lists.Filter(lists.Map(s.Steps, func(f Finished) artifacts.Digest { return f.Key }), func(key artifacts.Digest) bool { return !key.IsZero() })
	entries, err := artifacts.Inspect(ctx, store, keys)
	for i := range s.Steps {
		f := &s.Steps[i]
		r := entries[f.Key].Result
		if r == nil {
			continue
		}
		has := map[string]artifacts.Digest{}
		for name, a := range r.Outputs {
			has[name] = a.Digest
		}
		if isNew {
			f.Outputs = has
		}
		if maps.Equal(f.Outputs, has) {
			f.result = r
		}
	}
	return err
}

// ReadSnapshot reads a snapshot from a file, with the results that a store has of its steps.
func ReadSnapshot(ctx context.Context, store *artifacts.Resolver, path string) (*Snapshot, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s Snapshot
	if err := json.Unmarshal(b, &s); err != nil || s.Format != SnapshotFormat {
		return nil, fmt.Errorf("%s is no snapshot of a run in the form %s: `redsi same RUN --write %[1]s` writes one", path, SnapshotFormat)
	}
	return &s, s.look(ctx, store, false)
}

type Pair struct {
	Address string        `json:"address"`
	SameKey bool          `json:"same_key"`
	Verdict alike.Verdict `json:"verdict,omitempty"` // on its outputs; "" where one side has none
	What    string        `json:"what,omitempty"`    // in words
	At      syntax.Pos    `json:"at,omitzero"`       // in the pipeline
}

// Ok reports whether both sides have one key, unless only results count, and bytes that are the same or as the kind allows.
func (p Pair) Ok(results bool) bool {
	return (p.SameKey || results) && (p.Verdict == alike.Same || p.Verdict == alike.Within)
}

// Same compares what two runs came to, step by step, in the order of addresses.
func Same(ctx context.Context, kinds *step.Registry, blobs artifacts.BlobReader, a, b *Snapshot) (pairs []Pair, err error) {
	tasks := b.tasks
	if tasks == nil {
		tasks = a.tasks
	}
	of := func(f Finished) string { return f.Address }
	inA, inB := lists.By(a.Steps, of), lists.By(b.Steps, of)
	all := lists.Unique(lists.Map(slices.Concat(a.Steps, b.Steps), of))
	slices.Sort(all)
	for _, address := range all {
		x, there := inA[address]
		y, here := inB[address]
		p := Pair{Address: address, SameKey: there && here && x.Key == y.Key && !x.Key.IsZero(), At: tasks[address].Pos}
		switch {
		case !here:
			p.What = "only in the first"
		case !there:
			p.What = "only in the second"
		case len(x.Outputs) == 0 && len(y.Outputs) == 0:
			p.What = "neither has a result"
		case len(x.Outputs) == 0:
			p.What = "the first has no result"
		case len(y.Outputs) == 0:
			p.What = "the second has no result"
		default:
			if err := p.compare(ctx, kinds, blobs, tasks[address].Task, x, y); err != nil {
				return nil, fmt.Errorf("%s: %w", address, err)
			}
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

func (p *Pair) compare(ctx context.Context, kinds *step.Registry, blobs artifacts.BlobReader, task step.Task, x, y Finished) error {
	if p.Verdict = alike.Same; maps.Equal(x.Outputs, y.Outputs) {
		return nil
	}
	p.Verdict = alike.Differs
	for _, name := range slices.Sorted(maps.Keys(x.Outputs)) {
		if y.Outputs[name] != x.Outputs[name] {
			p.What = "output " + name
			break
		}
	}
	spec := kinds.Lookup(task.Kind)
	if x.result == nil || y.result == nil || spec == nil {
		p.What += ": the bytes of one side are not in this store"
		return nil
	}
	rules, err := spec.Rules(task)
	if err != nil {
		return err
	}
	c, err := alike.Compare(ctx, blobs, spec.Outputs, rules, x.result.Outputs, y.result.Outputs, func(context.Context, string, step.Evaluated) (alike.Found, error) {
		return alike.Found{Verdict: alike.Within, Rule: "by the steps that evaluate it, which are pairs of their own"}, nil
	})
	switch {
	case errors.Is(err, artifacts.ErrNotExist):
		p.What += ": its bytes have left the store"
		return nil
	case err != nil:
		return err
	}
	p.Verdict, p.What = c.Verdict, ""
	if w := c.Worst(); w != nil {
		p.What = w.String()
	}
	return nil
}
