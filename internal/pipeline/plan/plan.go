// Package plan turns a pipeline into a plan: the selected steps in an order in which each follows what it reads, and, given
// a way to look results up, which of them are done (HIT), must run (RUN), or have a key that depends on a step that must run
// first (MAYBE). A Plan travels to workers and is stored by its digest. The package does no I/O except by what it is given,
// and must not know stores or Temporal.
package plan

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

const Format = "redsi-plan/1"

// Plan is the selected part of a pipeline in a runnable order.
type Plan struct {
	Format   string             `json:"format"`
	Pipeline string             `json:"pipeline"` // name for people: the file it came from
	Targets  []string           `json:"targets,omitempty"`
	Steps    []Step             `json:"steps"`
	Limits   map[string]int     `json:"limits,omitempty"`   // steps that may have a name of their resources at a time
	Skipped  []pipeline.Skipped `json:"skipped,omitempty"`  // their when is false: they are not among Steps
	Origin   *pipeline.Origin   `json:"origin,omitempty"`   // of the pipeline, where steps are pending: see Grow
	First    artifacts.Digest   `json:"first,omitzero"`     // the stored plan from which this one has grown; zero: none
	LeftOut  []string           `json:"left_out,omitempty"` // addresses that Without took out, without their readers

	// Kinds are the versions of the steps' kinds and their parts: another program must not do them by other rules.
	Kinds map[string]int `json:"kinds,omitempty"`
}

// Step is one step of a plan. Its task's inputs are references to the steps of Deps, which come earlier.
type Step struct {
	Address   string                  `json:"address"`
	Task      step.Task               `json:"task"`
	Deps      []int                   `json:"deps,omitempty"` // indexes into Plan.Steps, ascending
	Queue     string                  `json:"queue,omitempty"`
	Resources *step.Resources         `json:"resources,omitempty"`
	Inline    bool                    `json:"inline,omitempty"`
	Pos       pipeline.Pos            `json:"pos"`
	AttrPos   map[string]pipeline.Pos `json:"attr_pos,omitempty"`
	Gathers   []Gather                `json:"gathers,omitempty"` // of Deps: with on_failure, so it goes on if they fail
	Fresh     time.Duration           `json:"fresh,omitempty"`   // for how long its result counts; 0: for ever

	// Temporary is a step with keep = false: its bytes leave the store once its readers are done; its result counts all the same.
	Temporary bool `json:"temporary,omitempty"`

	// Awaits are the outputs that decide what a pending step, without a configuration, is; Awaited their steps, among Deps.
	Awaits  []step.Ref `json:"awaits,omitempty"`
	Awaited []int      `json:"awaited,omitempty"`
}

func (s *Step) Block() string { return address.Of(s.Address).Block() }

func (s *Step) IsRendered() bool { return address.Of(s.Address).IsRendered() }

func (p *Plan) Addresses(of []int) []string {
	return lists.Map(of, func(i int) string { return p.Steps[i].Address })
}

// Places is the place of each step in the plan, by address.
func (p *Plan) Places() map[string]int {
	at := make(map[string]int, len(p.Steps))
	for i := range p.Steps {
		at[p.Steps[i].Address] = i
	}
	return at
}

// IsStale reports whether a result is older than fresh (0: never) at a time, which is not zero.
func IsStale(finished time.Time, fresh time.Duration, at time.Time) bool {
	return fresh > 0 && !at.IsZero() && !finished.Add(fresh).After(at)
}

// Pending reports whether Awaits decide what the step is or, of an address BLOCK[*], which steps there are.
func (s *Step) Pending() bool { return len(s.Awaits) > 0 }

func (p *Plan) Pending() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Pending() })
}

type UnknownTarget struct {
	Target string
	Near   string // the closest address; "" if none is close
}

func (e *UnknownTarget) Error() string {
	msg := fmt.Sprintf("target '%s' names no step, table or figure", e.Target) // quoted as for a shell
	if e.Near == "" {
		return msg
	}
	return msg + fmt.Sprintf("; did you mean '%s'?", e.Near)
}

// Build selects what the targets need, or without targets the pipeline's own steps and what these need, in topological order. A
// target is an address (table.dedup_counts, step.dedup.nq["url"]) or its beginning up to a dot or bracket (table).
func Build(name string, p *pipeline.Pipeline, reg *step.Registry, targets []string) (*Plan, error) {
	index := make(map[string]int, len(p.Steps))
	for i, s := range p.Steps {
		index[s.Address] = i
	}
	deps := make([][]int, len(p.Steps))
	for i, s := range p.Steps {
		var err error
		if deps[i], err = depsOf(s, index); err != nil {
			return nil, err
		}
	}
	selected, err := selectTargets(p, deps, targets)
	if err != nil {
		return nil, err
	}
	order := topological(deps, selected)
	place := make([]int, len(p.Steps))
	plan := &Plan{Format: Format, Pipeline: name, Targets: targets, Limits: p.Limits, Steps: make([]Step, 0, len(order)), Kinds: map[string]int{}}
	for n, i := range order {
		place[i] = n
		s := p.Steps[i]
		out := Step{Address: s.Address, Task: s.Task, Queue: s.Queue, Resources: s.Resources, Fresh: s.Fresh, Pos: s.Pos, AttrPos: s.AttrPos, Awaits: s.Awaits}
		if spec := reg.Lookup(s.Kind); spec != nil {
			queue := spec.Queue
			if s.Resources != nil && s.Resources.GPUs > 0 {
				queue = step.GPU
			}
			out.Inline, out.Queue = spec.Inline, cmp.Or(out.Queue, string(queue))
			if _, listed := plan.Kinds[s.Kind]; !listed {
				plan.Kinds[s.Kind] = spec.Version
				for _, part := range spec.Parts {
					plan.Kinds[part.Name] = part.Version
				}
			}
		}
		out.Deps = lists.Map(deps[i], func(d int) int { return place[d] })
		slices.Sort(out.Deps)
		out.Awaited = lists.Map(s.Awaits, func(ref step.Ref) int { return place[index[ref.Step]] })
		if slices.Sort(out.Awaited); s.Pending() && plan.Origin == nil {
			plan.Origin = p.Origin()
		}
		out.Awaited = slices.Compact(out.Awaited)
		if out.Gathers, err = gathers(p, &s, reg.Lookup(s.Kind), deps[i], place); err != nil {
			return nil, err
		}
		plan.Steps = append(plan.Steps, out)
	}
	plan.setTemporary(p, order)
	plan.Skipped = lists.Filter(p.Skipped, func(s pipeline.Skipped) bool {
		return len(targets) == 0 || slices.ContainsFunc(targets, func(t string) bool { return Matches(t, s.Address) })
	})
	return plan, nil
}

// setTemporary marks steps whose bytes need not stay: they are read, and not published or a target. order: places in the pipeline.
func (p *Plan) setTemporary(from *pipeline.Pipeline, order []int) {
	kept := map[string]bool{}
	for _, b := range from.Publish {
		for _, ref := range b.Files {
			kept[ref.Step] = true
		}
	}
	for _, reader := range p.Steps {
		for _, d := range reader.Deps {
			if s := &p.Steps[d]; from.Steps[order[d]].Temporary && !s.Temporary {
				s.Temporary = !kept[s.Address] && !slices.ContainsFunc(p.Targets, func(t string) bool { return Matches(t, s.Address) })
			}
		}
	}
}

// Without is the plan without some steps and all that need them. A step that gathers them and has enough stays (reg nil: it
// goes, too). left are the steps that are left out, in the plan's order.
func (p *Plan) Without(reg *step.Registry, out func(i int) bool) (rest *Plan, left []int) {
	rest = &Plan{Format: p.Format, Pipeline: p.Pipeline, Targets: p.Targets, Limits: p.Limits, Kinds: p.Kinds, Skipped: p.Skipped, Origin: p.Origin, LeftOut: slices.Clone(p.LeftOut)}
	place := make([]int, len(p.Steps))
	for i, s := range p.Steps {
		gone := out(i)
		if gone {
			rest.LeftOut = append(rest.LeftOut, s.Address)
		}
		lost := lists.Filter(s.Deps, func(d int) bool { return place[d] < 0 })
		gone = gone || slices.ContainsFunc(lost, func(d int) bool { return reg == nil || !s.gathers(d) })
		if !gone && len(lost) > 0 {
			var err error
			s, err = p.lessened(reg, s, lost)
			gone = err != nil
		}
		if gone {
			for _, d := range s.Deps {
				if place[d] >= 0 { // it has a reader that is not done
					rest.Steps[place[d]].Temporary = false
				}
			}
			place[i] = -1
			left = append(left, i)
			continue
		}
		place[i] = len(rest.Steps)
		at := func(d int) int { return place[d] }
		s.Deps, s.Awaited = lists.Map(s.Deps, at), lists.Map(s.Awaited, at)
		s.Gathers = lists.Map(s.Gathers, func(g Gather) Gather { return Gather{g.Least, lists.Map(g.Of, at)} })
		rest.Steps = append(rest.Steps, s)
	}
	return rest, left
}

func depsOf(s pipeline.Step, index map[string]int) ([]int, error) {
	refs, err := s.Task.Refs()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Address, err)
	}
	after := lists.Map(s.After, func(address string) step.Ref { return step.Ref{Step: address} })
	var deps []int
	for _, r := range slices.Concat(refs, after, s.Awaits) {
		i, ok := index[r.Step]
		if !ok {
			return nil, fmt.Errorf("%s reads %s, which is not in the pipeline", s.Address, r)
		}
		deps = append(deps, i)
	}
	slices.Sort(deps)
	return slices.Compact(deps), nil
}

// Matches reports whether a target selects a step. An instance as target selects the step that stands for unknown instances.
func Matches(target, step string) bool {
	if block, pending := strings.CutSuffix(step, address.Any); pending && strings.HasPrefix(target, block+"[") {
		return true
	}
	rest, ok := strings.CutPrefix(step, target)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func selectTargets(p *pipeline.Pipeline, deps [][]int, targets []string) ([]bool, error) {
	selected := make([]bool, len(p.Steps))
	var mark func(i int)
	mark = func(i int) {
		if selected[i] {
			return
		}
		selected[i] = true
		for _, d := range deps[i] {
			mark(d)
		}
	}
	if len(targets) == 0 {
		for i, s := range p.Steps {
			if s.Module == "" {
				mark(i)
			}
		}
		return selected, nil
	}
	for _, t := range targets {
		found := slices.ContainsFunc(p.Skipped, func(s pipeline.Skipped) bool { return Matches(t, s.Address) })
		for i, s := range p.Steps {
			if Matches(t, s.Address) {
				mark(i)
				found = true
			}
		}
		if !found {
			return nil, &UnknownTarget{Target: t, Near: nearest(t, p)}
		}
	}
	return selected, nil
}

// topological orders the selected steps as in the source, but each right after its inputs. The loader has refused cycles.
func topological(deps [][]int, selected []bool) []int {
	var order []int
	placed := make([]bool, len(deps))
	var place func(i int)
	place = func(i int) {
		if placed[i] || !selected[i] {
			return
		}
		placed[i] = true
		for _, d := range deps[i] {
			place(d)
		}
		order = append(order, i)
	}
	for i := range deps {
		place(i)
	}
	return order
}

// nearest is the address, or block, that a mistyped target most likely meant; "": nothing is close.
func nearest(target string, p *pipeline.Pipeline) string {
	var names []string
	for _, s := range p.Steps {
		names = append(names, s.Address, address.Of(s.Address).Block())
	}
	return syntax.Nearest(target, names)
}

// InputsOf calls each for every input in a task, with the path of the attribute that reads it.
func InputsOf(t step.Task, each func(path string, in step.Input)) error {
	tree, err := t.Tree()
	if err != nil {
		return err
	}
	_, err = step.MapInputs(tree, func(path string, in step.Input) (step.Input, error) {
		each(path, in)
		return in, nil
	})
	return err
}

// Leading pairs ends, by their number, with the steps that lead to them: 64 ends at a time, in the order of steps.
func (p *Plan) Leading(ends []int) iter.Seq2[int, int] {
	return func(yield func(end, step int) bool) {
		sets := make([]uint64, len(p.Steps)) // bit n is of end first+n
		for first := 0; first < len(ends); first += 64 {
			clear(sets)
			for n, i := range ends[first:min(len(ends), first+64)] {
				sets[i] |= 1 << n
			}
			for i := len(sets) - 1; i >= 0; i-- { // what reads a step stands behind it
				for _, d := range p.Steps[i].Deps {
					sets[d] |= sets[i]
				}
			}
			for i, set := range sets {
				for ; set != 0; set &= set - 1 {
					if !yield(first+bits.TrailingZeros64(set), i) {
						return
					}
				}
			}
		}
	}
}

func (p *Plan) Rendered() []int {
	return lists.Filter(lists.Places(len(p.Steps)), func(i int) bool { return p.Steps[i].IsRendered() })
}
