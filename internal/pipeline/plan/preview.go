package plan

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"
	"unique"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// Outcome is what a plan knows of a step.
type Outcome string

// The three outcomes before a run.
const (
	Hit   Outcome = "hit"   // its result is there and complete
	Run   Outcome = "run"   // its key has no complete result
	Maybe Outcome = "maybe" // its key can be computed only once a step before it has run
)

// Lookup finds complete results by key; missing keys are left out of the map.
type Lookup func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error)

type Item struct {
	Outcome  Outcome
	Key      artifacts.Digest // zero for Maybe
	Preimage []byte
	Bound    *step.Task        // its task with its inputs; nil for Maybe
	Result   *artifacts.Result // for Hit
	Rare     *Snags            // see Snags; nil: none

	// Of the result of a hit, kept or not.
	Took   time.Duration
	Bytes  int64  // of its outputs
	Memory int64  // the most at a time; 0 if not known
	Run    string // that left it
	From   string // the other store that has it; "" if the own one does

	// Released: the result's bytes have left the store on purpose. A hit needs none; a step to run does, for step Reader.
	Released bool
	Accepted *artifacts.Acceptance // by which a hit counts for its key; nil if it ran under that key
}

// Snags are the rare parts of an item: most steps have none.
type Snags struct {
	Lacks  []int     // steps that it gathers and that its result, or key, is without: they have failed
	Waits  []int     // for Maybe: the inputs that are not there, or fail a check
	Wrong  string    // for Maybe: what an input is named by and does not have; a run fails the step by it
	Fails  []string  // for Hit: checks that the result fails, which stop what reads it
	Warns  []string  // for Hit: checks that the result fails, and that stop nothing
	Stale  time.Time // for Run: when the result finished that is no longer fresh; zero: there is none
	Reader int       // see Item.Released
}

// Task is Bound, or the empty task.
func (it *Item) Task() step.Task {
	if it.Bound == nil {
		return step.Task{}
	}
	return *it.Bound
}

func (it *Item) Snags() Snags {
	if it.Rare == nil {
		return Snags{}
	}
	return *it.Rare
}

type Preview struct {
	Plan  *Plan
	Items []Item
}

// Todo are the steps of the plan that are no hits, with their places.
func (v *Preview) Todo() iter.Seq2[int, *Step] {
	return func(yield func(int, *Step) bool) {
		for i := range v.Items {
			if v.Items[i].Outcome != Hit && !yield(i, &v.Plan.Steps[i]) {
				return
			}
		}
	}
}

// Parts says of a step that is to run in parts how many of them have results.
type Parts struct {
	There int `json:"there"`
	Of    int `json:"of,omitempty"` // 0: not known yet
}

type Summary struct {
	Hit   int `json:"hit"`
	Run   int `json:"run"`
	Maybe int `json:"maybe"`
}

// Keep says whether a hit's task, preimage and result are wanted in the end. It is asked once, when the item has them.
type Keep func(i int, it *Item) bool

func KeepAll(int, *Item) bool { return true }

func KeepNone(int, *Item) bool { return false }

const lookupMost = 2048 // results that are held between a look-up and the word of Keep

// Follow follows results as far as they go, by levels of the graph, at most lookupMost keys in a look-up, and holds what keep
// does not want only while steps to come read it. What reads a result that fails a check, judged by what open reads (nil: no
// check is judged), does not run. An error is permanent, or lookup's or open's.
func (p *Plan) Follow(ctx context.Context, reg *step.Registry, lookup Lookup, keep Keep, open step.Opener) (*Preview, error) {
	return p.FollowWithout(ctx, reg, lookup, keep, open, func(int, bool) bool { return false }, time.Time{})
}

// FollowWithout is Follow without the steps that are gone, for a run that begins at a time (zero: none): what gathers them goes
// on, and stale results do not count. gone is told whether the stores have a result: in a run that a step has failed in,
// another run's later result does not count.
func (p *Plan) FollowWithout(ctx context.Context, reg *step.Registry, lookup Lookup, keep Keep, open step.Opener, gone func(i int, has bool) bool, at time.Time) (*Preview, error) {
	if open != nil {
		open = step.Remembered(open)
	}
	f := follower{Preview: &Preview{Plan: p, Items: make([]Item, len(p.Steps))}, reg: reg, lookup: lookup, keep: keep, open: open, gone: gone, at: at,
		wanted: make([]bool, len(p.Steps)), readers: make([]int32, len(p.Steps))}
	for _, s := range p.Steps {
		for _, d := range s.Deps {
			f.readers[d]++
		}
	}
	for _, level := range p.levels() {
		for batch := range slices.Chunk(level, lookupMost) {
			if err := f.batch(ctx, batch); err != nil {
				return nil, err
			}
		}
	}
	f.makeAgain()
	return f.Preview, nil
}

// makeAgain turns hits without their bytes into steps to run if a step that must run reads them. All keys stay.
func (f *follower) makeAgain() {
	for i := len(f.Items) - 1; i >= 0; i-- { // readers come after what they read
		if f.Items[i].Outcome != Hit {
			for _, d := range f.Plan.Steps[i].Deps {
				if it := &f.Items[d]; it.Released && it.Outcome == Hit {
					*it = Item{Outcome: Run, Key: it.Key, Preimage: it.Preimage, Bound: it.Bound, Released: true, Rare: &Snags{Reader: i}}
				}
			}
		}
	}
	for i, it := range f.Items {
		if it.Released && it.Outcome == Hit && !f.wanted[i] {
			f.drop(i)
		}
	}
}

// levels parts the steps by how many steps come before them on the longest way.
func (p *Plan) levels() (levels [][]int) {
	at := make([]int, len(p.Steps))
	for i, s := range p.Steps {
		for _, d := range s.Deps { // before i
			at[i] = max(at[i], at[d]+1)
		}
		if at[i] == len(levels) {
			levels = append(levels, nil)
		}
		levels[at[i]] = append(levels[at[i]], i)
	}
	return levels
}

type follower struct {
	*Preview
	reg     *step.Registry
	lookup  Lookup
	keep    Keep
	open    step.Opener
	gone    func(i int, has bool) bool
	at      time.Time
	wanted  []bool  // by keep
	readers []int32 // steps that read a result and have not been bound
}

// batch fills in the items of steps, whose inputs have theirs.
func (f *follower) batch(ctx context.Context, steps []int) error {
	ready := make([]int, 0, len(steps))
	for _, i := range steps {
		if missing := f.missing(i); len(missing) > 0 || f.Plan.Steps[i].Pending() {
			f.Items[i] = Item{Outcome: Maybe, Rare: &Snags{Waits: missing}}
			continue
		}
		ready = append(ready, i)
	}
	if len(ready) > 0 {
		if err := f.look(ctx, ready); err != nil {
			return err
		}
	}
	for _, i := range steps {
		for _, d := range f.Plan.Steps[i].Deps {
			f.readers[d]--
			f.release(d)
		}
		f.release(i)
	}
	return nil
}

func (f *follower) look(ctx context.Context, ready []int) error {
	errs := make([]error, len(ready))
	var workers sync.WaitGroup
	for w := range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			n := w
			defer func() {
				if p := recover(); p != nil { // of a kind; else it would end the process
					errs[n] = fmt.Errorf("%s: a bug in redsi: %v\n%s", f.Plan.Steps[ready[n]].Address, p, debug.Stack())
				}
			}()
			for ; n < len(ready); n += runtime.GOMAXPROCS(0) {
				i := ready[n]
				bound, key, preimage, err := f.Plan.Bind(f.reg, i, func(d int) *artifacts.Result {
					if f.hasNone(d) {
						return nil
					}
					return f.Items[d].Result
				})
				f.Items[i], errs[n] = Item{Outcome: Run, Key: key, Preimage: preimage, Bound: &bound}, err
				if lacks := lists.Filter(f.Plan.Steps[i].Deps, f.hasNone); len(lacks) > 0 { // gathered, and gone
					f.Items[i].Rare = &Snags{Lacks: lacks}
				}
			}
		})
	}
	workers.Wait()
	for n, err := range errs { // the first in the plan
		if _, lacks := errors.AsType[*step.NoFileError](err); lacks {
			f.Items[ready[n]] = Item{Outcome: Maybe, Rare: &Snags{Wrong: err.Error()}}
		} else if err != nil {
			return step.Permanent(err)
		}
	}
	ready = slices.DeleteFunc(ready, func(i int) bool { return f.Items[i].Outcome == Maybe })
	keys := lists.Map(ready, func(i int) artifacts.Digest { return f.Items[i].Key })
	found, err := f.lookup(ctx, keys)
	if err != nil {
		return err
	}
	for _, i := range ready {
		it := &f.Items[i]
		r := found[it.Key]
		if r != nil && IsStale(r.Finished, f.Plan.Steps[i].Fresh, f.at) {
			s := it.Snags()
			s.Stale = r.Finished
			it.Rare, r = &s, nil
		}
		if r != nil && (!r.Released || f.Plan.Steps[i].Temporary) {
			it.Released = r.Released
			it.Outcome, it.Result, it.Took, it.Bytes, it.Memory, it.Run, it.From = Hit, r, r.Took, r.Bytes(), r.Memory(), unique.Make(r.Origin.RunID).Value(), r.From
			if it.Preimage == nil {
				it.Preimage = r.Preimage
			}
			if f.open != nil && len(it.Bound.Checks) > 0 {
				s := it.Snags()
				if s.Fails, s.Warns, err = it.Bound.Problems(ctx, r, f.open); artifacts.IsLost(err) && !f.unread(i, err) {
					*it = Item{Outcome: Run, Key: it.Key, Preimage: it.Preimage, Bound: it.Bound} // the run rebuilds what is lost
					continue
				} else if err != nil && !artifacts.IsLost(err) {
					return fmt.Errorf("%s: %w", f.Plan.Steps[i].Address, err)
				} else if len(s.Fails)+len(s.Warns) > 0 {
					it.Rare = &s
				}
			}
			if it.Accepted, err = r.Acceptance(); err != nil {
				return step.Permanent(fmt.Errorf("%s: %w", f.Plan.Steps[i].Address, err))
			}
			f.wanted[i] = f.keep(i, it)
		} else if it.Preimage == nil {
			if _, it.Preimage, err = f.reg.Key(*it.Bound); err != nil {
				return step.Permanent(fmt.Errorf("%s: %w", f.Plan.Steps[i].Address, err))
			}
		}
	}
	return nil
}

// missing lists the inputs of a step that have no result, and that it needs.
func (f *follower) missing(i int) []int {
	missing := lists.Filter(f.Plan.Steps[i].Deps, f.hasNone)
	if s := &f.Plan.Steps[i]; len(s.Gathers) > 0 && len(missing) > 0 {
		gone := func(d int) bool { return f.gone(d, f.has(d)) }
		if !slices.ContainsFunc(missing, func(d int) bool { return !gone(d) || !s.gathers(d) }) && s.Enough(gone) {
			return nil
		}
	}
	return missing
}

// has reports whether the stores have a result of a step that may be read.
func (f *follower) has(d int) bool {
	return f.Items[d].Outcome == Hit && len(f.Items[d].Snags().Fails) == 0
}

// hasNone reports whether a step has nothing for its readers.
func (f *follower) hasNone(d int) bool { return !f.has(d) || f.gone(d, true) }

// release drops what a hit holds, once keep does not want it and every reader is bound.
func (f *follower) release(i int) {
	if it := &f.Items[i]; it.Outcome == Hit && f.readers[i] == 0 && !f.wanted[i] && !it.Released {
		f.drop(i)
	}
}

func (f *follower) drop(i int) {
	it := &f.Items[i]
	it.Preimage, it.Bound, it.Result = nil, nil, nil
}

// unread reports whether a check could not be judged since the bytes that it reads were let go: it was judged before.
func (f *follower) unread(i int, err error) bool {
	return errors.Is(err, artifacts.ErrNotExist) && (f.Items[i].Released || slices.ContainsFunc(f.Plan.Steps[i].Deps, func(d int) bool { return f.Items[d].Released }))
}

// Bind fills in the inputs of step i from results, without gathered steps that have none; it returns task, key and preimage.
func (p *Plan) Bind(reg *step.Registry, i int, result func(dep int) *artifacts.Result) (step.Task, artifacts.Digest, []byte, error) {
	s := p.Steps[i]
	byAddress := make(map[string]*artifacts.Result, len(s.Deps))
	var lost []int
	for _, d := range s.Deps {
		r := result(d)
		if byAddress[p.Steps[d].Address] = r; r == nil && s.gathers(d) {
			lost = append(lost, d)
		}
	}
	if len(lost) > 0 {
		var err error
		if s, err = p.lessened(reg, s, lost); err != nil {
			return step.Task{}, artifacts.Digest{}, nil, err
		}
	}
	bound, key, preimage, err := reg.Bind(s.Task, func(r step.Ref) (artifacts.Artifact, error) {
		res := byAddress[r.Step]
		if res == nil {
			return artifacts.Artifact{}, fmt.Errorf("%s has no result yet", r.Step)
		}
		a, ok := res.Outputs[r.Output]
		if !ok {
			return artifacts.Artifact{}, fmt.Errorf("the stored result of %s has no output %q", r.Step, r.Output)
		}
		a, err := r.In(a)
		if k := reg.Lookup(s.Task.Kind); k == nil || k.Kind.Stage == nil {
			a.Mode = ""
		}
		return a, err
	})
	if err == nil {
		bound, err = bound.BindChecks(func(address string) *artifacts.Result { return byAddress[address] })
	}
	if err != nil {
		return step.Task{}, artifacts.Digest{}, nil, fmt.Errorf("%s: %w", s.Address, err)
	}
	return bound, key, preimage, nil
}

func (v *Preview) Summary() Summary {
	n := map[Outcome]int{}
	for i := range v.Items {
		n[v.Items[i].Outcome]++
	}
	return Summary{Hit: n[Hit], Run: n[Run], Maybe: n[Maybe]}
}

// LacksOf lists the steps that a result is without, as it or a result that it reads gathers them.
func (v *Preview) LacksOf(i int) (lacks []int) {
	for _, d := range v.Plan.Leading([]int{i}) {
		lacks = append(lacks, v.Items[d].Snags().Lacks...)
	}
	return slices.Compact(slices.Sorted(slices.Values(lacks)))
}

// Done reports whether there is nothing to run, and no check fails.
func (v *Preview) Done() bool {
	return v.Summary().Hit == len(v.Items) && !slices.ContainsFunc(v.Items, func(it Item) bool { return len(it.Snags().Fails) > 0 })
}

// Saved is the time that the hits took when they ran.
func (v *Preview) Saved() (d time.Duration) {
	for _, it := range v.Items {
		d += it.Took
	}
	return d
}
