package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// Gather are steps of one block with on_failure that a step reads in lists or maps: it goes on with at least Least results.
type Gather struct {
	Least int   `json:"least"`
	Of    []int `json:"of"` // indexes into Plan.Steps, ascending
}

// gathers finds what a step of the pipeline gathers; place is where the plan has each step of the pipeline.
func gathers(p *pipeline.Pipeline, s *pipeline.Step, spec *step.Spec, deps, place []int) (all []Gather, err error) {
	may := lists.Filter(deps, func(d int) bool { return p.Steps[d].AtLeast > 0 && !p.Steps[d].Pending() }) // be left out
	if len(may) == 0 || spec == nil || s.Pending() {
		return nil, nil
	}
	tree, err := s.Task.Tree()
	needed := lists.Set(lists.Map(s.Awaits, func(ref step.Ref) string { return ref.Step }))
	if err == nil {
		_, err = spec.Without(tree, func(ref step.Ref, can bool) bool {
			needed[ref.Step] = needed[ref.Step] || !can
			return false
		})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Address, err)
	}
	block := func(d int) string { return address.Of(p.Steps[d].Address).Block() }
	blocks := map[string][]int{}
	for _, d := range may {
		if !needed[p.Steps[d].Address] {
			blocks[block(d)] = append(blocks[block(d)], d)
		}
	}
	for _, name := range lists.Unique(lists.Map(may, block)) {
		of := blocks[name]
		if len(of) < 2 { // the step is for one of them only
			continue
		}
		least := p.Steps[of[0]].AtLeast
		if least < 1 {
			least = math.Ceil(least*float64(len(of)) - 1e-9)
		}
		g := Gather{Least: int(min(max(1, least), math.MaxInt32)), Of: lists.Map(of, func(d int) int { return place[d] })}
		slices.Sort(g.Of)
		all = append(all, g)
	}
	return all, nil
}

// gathers reports whether the step may go on without a dependency.
func (s *Step) gathers(d int) bool {
	return slices.ContainsFunc(s.Gathers, func(g Gather) bool { _, is := slices.BinarySearch(g.Of, d); return is })
}

// Enough reports whether a step still has as many results as it needs of what it gathers, without the steps that are gone.
func (s *Step) Enough(gone func(d int) bool) bool {
	return !slices.ContainsFunc(s.Gathers, func(g Gather) bool { return len(g.Of)-lists.Count(g.Of, gone) < g.Least })
}

// lessened is a step of the plan without some of the steps that it gathers; an error: too few are left.
func (p *Plan) lessened(reg *step.Registry, s Step, lost []int) (Step, error) {
	isLost := lists.Set(lost)
	gone := func(d int) bool { return isLost[d] }
	addresses := lists.Set(p.Addresses(lost))
	if !s.Enough(gone) {
		return s, fmt.Errorf("%s: too few of the steps that it gathers are left", s.Address)
	}
	var err error
	if s.Task, err = reg.Without(s.Task, addresses); err != nil {
		return s, fmt.Errorf("%s: %w", s.Address, err)
	}
	kept := func(of []int) []int { return lists.Filter(of, func(d int) bool { return !gone(d) }) }
	s.Deps = kept(s.Deps)
	s.Gathers = lists.Map(s.Gathers, func(g Gather) Gather { return Gather{g.Least, kept(g.Of)} })
	return s, nil
}
