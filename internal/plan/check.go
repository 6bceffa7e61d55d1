package plan

import "fmt"

// Check reports a plan that Build cannot have made: a plan is read from a store
// that others write to. Of its tasks nothing is known until they are bound.
func (p *Plan) Check() error {
	if p.Format != Format {
		return fmt.Errorf("the plan has format %q, this redsi reads %q: plan again", p.Format, Format)
	}
	seen := make(map[string]bool, len(p.Steps))
	for i, s := range p.Steps {
		if seen[s.Address] || s.Address == "" {
			return fmt.Errorf("the plan's step %d has the address %q, which is empty or another step's", i, s.Address)
		}
		seen[s.Address] = true
		last := -1
		for _, d := range s.Deps {
			if d <= last || d >= i {
				return fmt.Errorf("the plan's step %s comes after step %d, which is not before it", s.Address, d)
			}
			last = d
		}
	}
	return nil
}
