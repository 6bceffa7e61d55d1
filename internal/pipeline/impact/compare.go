// Package impact says what a change of a pipeline costs: of two plans, before and after, which steps lose their results, by
// which attribute at which line, and what running them is expected to take. It must not know where plans come from, and
// reads no store.
package impact

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

type Sides struct {
	Registry *step.Registry
	Was, Is  *plan.Preview
	Estimate *estimate.Estimate // of Is

	// Newest returns the preimage of the newest result of a step of Was; nil if there is none.
	Newest func(ctx context.Context, i int) ([]byte, error)

	Diff   func(before, after []byte) ([]step.Change, error) // of preimages, as their differences may be shown
	Claims func(address string) []string                     // the paper's sentences about a table or figure
}

// comparison is a report while it is computed.
type comparison struct {
	Sides
	report *Report

	was    map[string]int // steps of Was by address
	here   map[string]int // steps of Is by address
	of     []int          // by step of Is, the same step of Was; -1 if it is new
	causes causes
	own    []set // by step of Is, the causes that change it and the causes of what it reads
	stood  []bool
	states []state
	costs  []estimate.Cost
}

type state int

const (
	same state = iota
	toRun
	toMaybe
	isNew
	toHit
	cut
	gone
	anyway
)

func (s state) charged() bool { return s == toRun || s == toMaybe || s == isNew }

func (c *Counts) add(s state) {
	*[]*int{same: &c.Same, toRun: &c.Run, toMaybe: &c.Maybe, isNew: &c.New, toHit: &c.Hit, cut: &c.Cut, gone: &c.Gone, anyway: &c.Anyway}[s]++
}

// Compare says what the change from Was to Is costs: linear in steps, edges and causes (a block's attributes that differ).
func Compare(ctx context.Context, s Sides) (*Report, error) {
	n := len(s.Is.Items)
	c := &comparison{Sides: s, report: &Report{Format: Format, Notes: []string{}, Causes: []Cause{}, Tables: []Table{}, Claims: []Claim{}, Each: []Change{}},
		was: s.Was.Plan.Places(), here: s.Is.Plan.Places(), of: make([]int, n), causes: causes{at: map[causeKey]int{}}, own: make([]set, n),
		stood: make([]bool, len(s.Was.Items)), states: make([]state, n), costs: make([]estimate.Cost, n)}
	versions, err := c.versions(ctx)
	if err != nil {
		return nil, err
	}
	for i := range s.Is.Plan.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := c.step(i, versions); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Is.Plan.Steps[i].Address, err)
		}
	}
	c.list(c.settleCauses())
	c.tables()
	c.claims()
	return c.report, nil
}

// step finds out what becomes of a step of Is, whose inputs have been looked at.
func (c *comparison) step(i int, versions []set) error {
	x, it := &c.Is.Plan.Steps[i], &c.Is.Items[i]
	j, there := c.was[x.Address]
	if !there {
		j = -1
	}
	c.of[i] = j
	var found set
	for _, d := range x.Deps {
		found = found.with(c.own[d])
	}
	switch {
	case j < 0:
		found = found.plus(c.causes.place(Cause{Block: x.Block(), Text: "new", Where: where(x.Pos)}))
	case !it.Key.IsZero() && it.Key == c.Was.Items[j].Key:
		found = set{} // whatever it reads has the same bytes
	default:
		changes, err := c.changes(&c.Was.Plan.Steps[j], x)
		if err != nil {
			return err
		}
		for _, ch := range changes {
			found = found.plus(c.causes.place(c.cause(&c.Was.Plan.Steps[j], x, ch)))
		}
	}
	if j >= 0 && it.Outcome != plan.Hit {
		found = found.with(versions[j])
	}
	c.own[i] = found
	c.states[i] = c.become(i, j, found)
	if c.states[i].charged() {
		c.costs[i] = c.cost(i, j)
	}
	return nil
}

func (c *comparison) become(i, j int, found set) state {
	is, was := c.Is.Items[i], plan.Item{}
	if j >= 0 {
		was = c.Was.Items[j]
	}
	switch hit, wasHit := is.Outcome == plan.Hit, was.Outcome == plan.Hit; {
	case hit && wasHit && is.Key == was.Key:
		return same
	case hit && wasHit:
		return cut
	case hit:
		return toHit
	case j < 0:
		return isNew
	case !wasHit && !c.stood[j], found.empty():
		return anyway
	case is.Outcome == plan.Run:
		return toRun
	}
	return toMaybe
}

// changes is what differs in two steps themselves, whatever the bytes of their inputs are.
func (c *comparison) changes(was, is *plan.Step) ([]step.Change, error) {
	if was.Task.Kind == is.Task.Kind && bytes.Equal(was.Task.Config, is.Task.Config) {
		return nil, nil
	}
	names := map[string]string{}
	before, err := c.outline(was.Task, names)
	if err != nil {
		return nil, err
	}
	after, err := c.outline(is.Task, names)
	if err != nil || bytes.Equal(before, after) {
		return nil, err
	}
	changes, err := c.Diff(before, after)
	for i, ch := range changes {
		changes[i].Old, changes[i].New = cmp.Or(names[ch.Old], ch.Old), cmp.Or(names[ch.New], ch.New)
	}
	return changes, err
}

// outline is a step's preimage with digests of outputs' names in place of their bytes'; names gets the name of each.
func (c *comparison) outline(t step.Task, names map[string]string) ([]byte, error) {
	_, _, preimage, err := c.Registry.Bind(t, func(r step.Ref) (artifacts.Artifact, error) {
		d := artifacts.Sum([]byte(r.String()))
		names[`{"$input":"`+d.String()+`"}`] = r.String()
		return artifacts.Artifact{Digest: d}, nil
	})
	if err == nil && preimage == nil { // Bind had its key cached
		_, preimage, err = c.Registry.Key(t)
	}
	return preimage, err
}

// cause is a change of one step as a cause of its block.
func (c *comparison) cause(was, is *plan.Step, ch step.Change) Cause {
	pos, ok := is.AttrPos[ch.Attribute()]
	if !ok {
		if pos, ok = was.AttrPos[ch.Attribute()]; !ok || ch.New != "" { // it has its default now
			pos = is.Pos
		}
	}
	return Cause{Block: is.Block(), Path: ch.Path, Old: ch.Old, New: ch.New, Text: ch.String(), Where: where(pos)}
}

func where(p pipeline.Pos) string {
	if p.File == "" {
		return ""
	}
	return p.String()
}

// cost is what a step is expected to take: by the plan's history, else as its result before the change did.
func (c *comparison) cost(i, j int) estimate.Cost {
	x := c.Estimate.At(i)
	if j >= 0 && c.Was.Items[j].Outcome == plan.Hit {
		hit := c.Was.Items[j]
		if x.Basis == estimate.Nothing {
			x.Basis, x.P50, x.P90 = estimate.Itself, hit.Took, hit.Took
		}
		x.Bytes = hit.Bytes // what that very step left
	}
	return x.Cost(c.Is.Plan.Steps[i].Queue)
}

// settleCauses sums up what each cause moves, and sorts causes by that, the largest first; place is where each now stands.
func (c *comparison) settleCauses() (place []int) {
	list := c.causes.list
	for i, found := range c.own {
		if c.states[i].charged() {
			found.each(func(n int) { list[n].Moves.Add(c.costs[i]) })
		}
	}
	order := lists.Places(len(list))
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := list[a], list[b]
		return cmp.Or(cmp.Compare(y.Moves.P50, x.Moves.P50), cmp.Compare(y.Moves.Steps, x.Moves.Steps), cmp.Compare(y.Steps, x.Steps))
	})
	place = make([]int, len(list))
	for to, from := range order {
		place[from] = to
		c.report.Causes = append(c.report.Causes, list[from])
	}
	return place
}

// list adds every step that is not the same, and what the change costs in all.
func (c *comparison) list(place []int) {
	r := c.report
	for i, s := range c.states {
		x := &c.Is.Plan.Steps[i]
		r.Steps.add(s)
		r.Cost.Add(c.costs[i])
		if s == same || s == anyway && c.own[i].empty() {
			continue
		}
		ch := Change{Address: x.Address, After: c.Is.Items[i].Outcome, Charged: s.charged()}
		if j := c.of[i]; j >= 0 {
			ch.Before, ch.Stood = c.Was.Items[j].Outcome, c.stood[j]
		}
		c.own[i].each(func(n int) { ch.Causes = append(ch.Causes, place[n]) })
		slices.Sort(ch.Causes)
		if s.charged() && c.costs[i].Unknown == 0 {
			ch.Expect = &c.costs[i].P50
		}
		r.Each = append(r.Each, ch)
	}
	for j, x := range c.Was.Plan.Steps {
		if _, there := c.here[x.Address]; !there {
			r.Steps.add(gone)
			r.Each = append(r.Each, Change{Address: x.Address, Before: c.Was.Items[j].Outcome})
		}
	}
}

func (c *comparison) tables() {
	at := map[string]int{}
	all := []Table{}
	table := func(address string) *Table {
		n, ok := at[address]
		if !ok {
			n = len(all)
			at[address] = n
			all = append(all, Table{Address: address})
		}
		return &all[n]
	}
	is, was := c.Is.Plan.Rendered(), c.Was.Plan.Rendered()
	for _, i := range is {
		table(c.Is.Plan.Steps[i].Address).After = c.Is.Items[i].Outcome
	}
	for n, i := range c.Is.Plan.Leading(is) {
		all[n].Counts.add(c.states[i])
		all[n].Cost.Add(c.costs[i])
	}
	for _, j := range was {
		table(c.Was.Plan.Steps[j].Address).Before = c.Was.Items[j].Outcome
	}
	for n, j := range c.Was.Plan.Leading(was) {
		if _, there := c.here[c.Was.Plan.Steps[j].Address]; !there {
			table(c.Was.Plan.Steps[was[n]].Address).Counts.add(gone)
		}
	}
	c.report.Tables = append(c.report.Tables, lists.Filter(all, func(t Table) bool {
		return t.Counts.Run+t.Counts.Maybe+t.Counts.New+t.Counts.Hit+t.Counts.Cut+t.Counts.Gone > 0
	})...)
}

// claims lists the sentences about tables that the change may alter.
func (c *comparison) claims() {
	r := c.report
	at := map[string]int{}
	for n, t := range r.Tables {
		at[t.Address] = n
	}
	for i, x := range c.Is.Plan.Steps {
		if !x.IsRendered() || c.own[i].empty() {
			continue
		}
		texts := c.Claims(x.Address)
		r.Claims = append(r.Claims, lists.Map(texts, func(text string) Claim { return Claim{x.Address, text} })...)
		if n, ok := at[x.Address]; ok {
			r.Tables[n].Claims = len(texts)
		}
	}
}

// isInput reports whether a value in a preimage is the digest of an input.
func isInput(value string) bool { return strings.HasPrefix(value, `{"$input":`) }
