package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
)

// Store keeps a plan as a blob and returns its digest.
func Store(ctx context.Context, blobs artifacts.Blobs, p *Plan) (artifacts.Digest, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return artifacts.Digest{}, err
	}
	return artifacts.PutBytes(ctx, blobs, b)
}

func Read(ctx context.Context, blobs artifacts.BlobReader, d artifacts.Digest) (*Plan, error) {
	p := new(Plan)
	b, err := artifacts.ReadBlob(ctx, blobs, d, artifacts.AnySize)
	if err == nil {
		err = values.Written(b, p)
	}
	if err == nil {
		err = step.Permanent(p.Check())
	}
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", d, err)
	}
	return p, nil
}

// Check reports a plan that Build cannot have built, since others write to the store. It does not look into tasks.
func (p *Plan) Check() error {
	if p.Format != Format {
		return fmt.Errorf("the plan has format %q, this redsi reads %q: plan again", p.Format, Format)
	}
	seen := make(map[string]bool, len(p.Steps))
	for i, s := range p.Steps {
		if seen[s.Address] || s.Address == "" {
			return fmt.Errorf("the plan's step %d has the address %q, which is empty or belongs to another step", i, s.Address)
		}
		seen[s.Address] = true
		last := -1
		for _, d := range s.Deps {
			if d <= last || d >= i {
				return fmt.Errorf("the plan's step %s depends on step %d, which does not come before it", s.Address, d)
			}
			last = d
		}
		for _, d := range s.Awaited {
			if !slices.Contains(s.Deps, d) {
				return fmt.Errorf("the plan's step %s awaits step %d, which it does not depend on", s.Address, d)
			}
		}
		if s.Pending() && p.Origin == nil {
			return fmt.Errorf("the plan does not say what becomes of its pending step %s", s.Address)
		}
	}
	return nil
}

// CheckKinds reports a plan of other versions of kinds: its steps would get other keys here, and other bytes.
func (p *Plan) CheckKinds(reg *step.Registry) error {
	for _, name := range slices.Sorted(maps.Keys(p.Kinds)) {
		want := p.Kinds[name]
		spec := reg.Lookup(name)
		switch {
		case spec == nil:
			return fmt.Errorf("the plan has steps of kind %s, which this redsi does not have: use the version of redsi that made the plan, or plan again with this one", name)
		case spec.Version > want:
			return fmt.Errorf("the plan was made for version %d of kind %s, but the redsi that runs it is newer and has version %d: plan again", want, name, spec.Version)
		case spec.Version < want:
			return fmt.Errorf("the plan was made for version %d of kind %s, but the redsi that runs it (a worker, or a redsi dev that is open) is older and has version %d: update or end it", want, name, spec.Version)
		}
	}
	return nil
}
