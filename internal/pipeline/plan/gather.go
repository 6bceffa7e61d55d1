package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
)

// Gather are steps of one block with on_failure that a step reads in lists or maps: it goes on with at least Least results.
type Gather struct {
	Least int   `json:"least"`
	Of    []int `json:"of"` // indexes into Plan.Steps, ascending
}

// gathers are those of a step of the pipeline; place is where the plan has the pipeline's steps.
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
		if len(of) < 2 { // it is for one of them alone
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

// Enough reports whether a step that gathers others has enough of them without those that are gone.
func (s *Step) Enough(gone func(d int) bool) bool {
	return !slices.ContainsFunc(s.Gathers, func(g Gather) bool { return len(g.Of)-lists.Count(g.Of, gone) < g.Least })
}

// lessened is a step of the plan without some of the steps that it gathers.
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

// Check reports a plan that Build cannot have made, since others write to the store. It knows nothing of tasks.
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

// CheckKinds reports a plan made with other versions of kinds: its steps would get other keys here, and other bytes.
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

// Grower makes a plan whose steps are known only when others have run, as far as results are there: the same in client and worker.
type Grower struct {
	Origin *pipeline.Origin // of the pipeline
	With   pipeline.Options // beside it, and what is known to have been made
	// Plan makes a plan of it; Follow says which of the plan's results there are.
	Plan   func(*pipeline.Pipeline) (*Plan, error)
	Follow func(*Plan, Keep) (*Preview, error)
	Store  *artifacts.Resolver

	// Misfit is told of outputs with which there is no plan, then of smaller parts of them, and says whether to go on without; nil: no.
	Misfit func(of []step.Ref, err error) bool
}

// lostMost bounds how often one growth begins again because an output is lost or corrupt.
const lostMost = 3

// Grow grows a loaded pipeline and its plan as far as results are there; its error is a *pipeline.Invalid if they do not fit.
func (g Grower) Grow(ctx context.Context, p *pipeline.Pipeline, pl *Plan) (*pipeline.Pipeline, *Plan, error) {
	made := map[step.Ref]artifacts.Artifact{}
	var unread error // the store's, not the pipeline's
	g.With.Stop = ctx.Err
	g.With.Made = func(ref step.Ref) (*pipeline.Made, error) {
		a, ok := made[ref]
		if !ok {
			return nil, nil
		}
		return &pipeline.Made{Artifact: a, Read: func(f artifacts.File) ([]byte, error) {
			b, err := artifacts.ReadBlob(ctx, g.Store, f.Digest, f.Size)
			if err != nil {
				err = fmt.Errorf("%s: %w", ref, err)
				unread = err
			}
			return b, err
		}}, nil
	}
	first, out := pl.First, pl.LeftOut
	misfit := map[step.Ref]bool{}
	lost := 0     // outputs that could not be read
	anew := false // what fits is being found out, from the plan of nothing made
	// with grows by some outputs more, or by those among them that fit. These it tries in the order
	// in which steps depend on each other: an output is not to blame for what a later one lacks.
	var with func(refs []step.Ref, of map[step.Ref]artifacts.Artifact) error
	with = func(refs []step.Ref, of map[step.Ref]artifacts.Artifact) error {
		for _, ref := range refs {
			made[ref] = of[ref]
		}
		loaded, ds := g.Origin.Load(g.With)
		if err := cmp.Or(ctx.Err(), unread); err != nil {
			return err
		}
		var grown *Plan
		err := ds.Err()
		if err == nil {
			grown, err = g.Plan(loaded)
		}
		if err == nil {
			p = loaded
			pl, _ = grown.Without(g.With.Registry, func(i int) bool { return slices.Contains(out, grown.Steps[i].Address) })
			pl.First = first
			return nil
		}
		if ctx.Err() != nil || g.Misfit == nil || len(refs) == 0 {
			return err
		}
		if !anew {
			anew = true
			clear(made)
			return with(nil, nil)
		}
		if !g.Misfit(refs, err) {
			return err
		}
		for _, ref := range refs {
			delete(made, ref)
		}
		if len(refs) == 1 {
			misfit[refs[0]] = true
			return nil
		}
		half := len(refs) / 2
		return cmp.Or(with(refs[:half], of), with(refs[half:], of))
	}
	for pl.Pending() {
		wanted, asked := make([]bool, len(pl.Steps)), *pl
		for i, s := range pl.Steps {
			for _, d := range s.Awaited {
				wanted[d] = true
			}
			if s.Pending() {
				asked.Steps = pl.Steps[:i+1] // what comes after the last of them decides nothing
			}
		}
		v, err := g.Follow(&asked, func(i int, _ *Item) bool { return wanted[i] })
		if err != nil {
			return nil, nil, err
		}
		var fresh []step.Ref
		of := map[step.Ref]artifacts.Artifact{}
		for _, s := range pl.Steps {
			for _, d := range s.Awaited {
				it := v.Items[d]
				if it.Outcome != Hit || len(it.Snags().Fails) > 0 {
					continue
				}
				for _, ref := range s.Awaits {
					if _, have := made[ref]; !have && !misfit[ref] && ref.Step == pl.Steps[d].Address && !slices.Contains(fresh, ref) {
						fresh, of[ref] = append(fresh, ref), it.Result.Outputs[ref.Output]
					}
				}
			}
		}
		if len(fresh) == 0 {
			break
		}
		if first.IsZero() {
			b, err := json.Marshal(pl) // as it is stored
			if err != nil {
				return nil, nil, err
			}
			first = artifacts.Sum(b)
		}
		err = with(fresh, of)
		if lost < lostMost && unread != nil && artifacts.IsLost(err) { // its step must run again
			lost++
			if bad, ok := errors.AsType[*artifacts.IntegrityError](err); ok {
				_, err = artifacts.DropCorrupt(ctx, g.Store.Own, bad.Want)
			}
			if unread = nil; err == nil || errors.Is(err, artifacts.ErrNotExist) { // another run may have dropped it
				clear(made)
				continue
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return p, pl, nil
}

// Adopt gives steps the tasks that an earlier plan of the run has for them, and returns the places of those still to be resolved.
func (p *Plan) Adopt(before *Plan) (fresh []int) {
	tasks := make(map[string]*Step, len(before.Steps))
	for i := range before.Steps {
		if s := &before.Steps[i]; !s.Pending() {
			tasks[s.Address] = s
		}
	}
	for i := range p.Steps {
		if s := tasks[p.Steps[i].Address]; s != nil {
			p.Steps[i].Task = s.Task
		} else if !slices.Contains(before.LeftOut, p.Steps[i].Address) {
			fresh = append(fresh, i)
		}
	}
	return fresh
}
