package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// ReadFields adds to a cell's sources the fields that the configuration reads for it, and sorts sources with the same
// bytes so that the read one comes first.
func (t *Trace) ReadFields(v *plan.Preview, kinds *step.Registry) error {
	for _, s := range v.Plan.Steps {
		if s.Address != t.Address {
			continue
		}
		tree, err := s.Task.Tree()
		if err != nil {
			return err
		}
		reads, err := kinds.Lookup(s.Task.Kind).Reads(tree)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Address, err)
		}
		for _, r := range reads {
			if !slices.Contains(r.Of, t.Cell) || r.Input.Ref == nil {
				continue
			}
			for i, from := range t.Sources {
				if from.Step == r.Input.Ref.Step && from.Output == r.Input.Ref.OutputName() && !slices.Contains(from.Fields, r.Field()) {
					t.Sources[i].Fields = append(from.Fields, r.Field())
				}
			}
		}
	}
	slices.SortStableFunc(t.Sources, func(x, y Source) int {
		if x.Digest != y.Digest {
			return 0
		}
		return cmp.Compare(min(len(y.Fields), 1), min(len(x.Fields), 1))
	})
	seen := map[string]bool{}
	for i, s := range t.Sources {
		t.Sources[i].Same = seen[s.Digest]
		seen[s.Digest] = true
	}
	return nil
}
