package simulate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/testkit"
)

// The model of what a run is, from the documents for users: pipelines.md says which steps there
// are, reliability.md and commands.md how they end.

// people are what was done to a run, and to what it needs: the store was away for longer than a run waits for it.
type people struct{ failFast, skipFailed, cancelled, away bool }

// expected is how a step of a run ends. Ran stands for Hit, too.
type expected struct {
	ends  []runs.Status // that it may have
	why   string        // a part of its error, if it fails
	maybe bool          // it need not be there
}

func to(ends ...runs.Status) expected { return expected{ends: ends} }
func (e expected) done() bool         { return slices.Equal(e.ends, []runs.Status{runs.Ran}) }

// always and perhaps say what the error is of work that fails for sure, and of work of which other runs decide.
var (
	always = map[string]string{"transient": "(tried 1", // 10 times, and again where that could not be told
		"permanent": "it cannot be done", "panics": "a mistake of the kind", "hangs": "longer than its time", "changed": "other bytes", "exits": "program exited with code 3"}
	perhaps = map[string]string{"exits-first": "program exited with code 3", "heals": "it cannot be done", "pins-panic": "a mistake of the kind"}
)

// modeled are the steps of the blocks so far.
type modeled struct {
	p     pipelineScript
	of    map[string]*modeledBlock
	all   map[string]expected
	unfit map[string]bool // outputs, by block and key, with which the pipeline does not load: what awaits them fails
}

// modeledBlock is what has become of a block.
type modeledBlock struct {
	steps    []string // addresses
	leaveOut float64  // see block: AtLeast; 0: what gathers its steps needs all
	unknown  bool     // which steps it is stays unknown
	pending  bool     // it waits, perhaps for ever, for what decides about it or what it reads
	misfit   bool     // so does what does not fit: it fails or, by another failure, is skipped
}

// model is how the steps of a run of an edition end, by address.
func model(p pipelineScript, edition int, of people) map[string]expected {
	m := &modeled{p: p, of: map[string]*modeledBlock{}, all: map[string]expected{}, unfit: map[string]bool{}}
	blocks := slices.DeleteFunc(slices.Clone(p.Blocks), func(b block) bool { return b.Since > edition })
	for _, b := range blocks {
		if b.grown() && !b.Empty && p.source(&b).Pieces == 0 {
			m.unfit[b.Files+b.Names+b.Of] = true
		}
	}
	for _, b := range blocks {
		m.of[b.Name] = m.block(&b)
	}
	return disturbed(m.all, of)
}

// lostInputs says whether some of the steps that one waits for do not end well; sure is false if that is so perhaps only.
func (m *modeled) lostInputs(on []string) (lost, sure bool) {
	for _, at := range on {
		e := m.all[at]
		lost = lost || !e.done()
		sure = sure || !e.maybe && !slices.Contains(e.ends, runs.Ran)
	}
	return lost, sure
}

// gathered says the same of what gathers the steps of a block: of those it needs some.
func (m *modeled) gathered(on *modeledBlock) (lost, sure bool) {
	n, gone, perhaps := float64(len(on.steps)), 0.0, 0.0
	for _, at := range on.steps {
		switch e := m.all[at]; {
		case e.maybe:
			return true, false
		case !slices.Contains(e.ends, runs.Ran):
			gone++
		case !e.done():
			perhaps++
		}
	}
	least := on.leaveOut
	if least < 1 {
		least = math.Ceil(least * n)
	}
	return n-gone-perhaps < least, n-gone < least
}

func (m *modeled) block(b *block) *modeledBlock {
	x, misfit := &modeledBlock{}, m.unfit[b.When] || b.grown() && m.unfit[b.Files+b.Names+b.Of]
	add := func(key string, e expected) { x.steps, m.all[b.at(key)] = append(x.steps, b.at(key)), e }
	if b.When == "false" && !b.grown() { // no matter what it would read
		return x
	}
	var inputs, pieces []string // what each of its steps waits for; what says which steps there are
	if b.LeaveOut && b.many() {
		x.leaveOut = b.AtLeast
	}
	fewer, surely := false, false // of what it gathers, than it needs
	for _, a := range b.After {
		on := m.of[a]
		if on.leaveOut > 0 && len(on.steps) > 1 {
			lost, sure := m.gathered(on)
			fewer, surely = fewer || lost, surely || sure
			x.pending, x.misfit = x.pending || on.pending, x.misfit || on.misfit
			continue
		}
		x.pending, x.misfit, inputs = x.pending || on.pending, x.misfit || on.misfit, append(inputs, on.steps...)
	}
	is, leftOut := b.When != "false" || misfit, false // there are such steps; perhaps there are not
	if decides := m.of[b.When]; decides != nil {
		lost, sure := m.lostInputs(decides.steps)
		x.pending, inputs = x.pending || lost, append(inputs, decides.steps...)
		if !m.p.block(b.When).OK {
			is, leftOut = x.pending || misfit, !sure
		}
	}
	keys, source := keysOf(b.Fixed), m.p.source(b)
	if source != nil {
		keys, pieces = keysOf(source.Pieces), m.of[source.Name].steps
		if b.Of != "" && !m.of[source.Name].unknown {
			pieces = []string{source.at(b.Of)}
		}
		inputs = append(inputs, pieces...)
	} else if b.Fixed == 0 {
		keys = []string{""}
	}
	lost, sure := m.lostInputs(pieces)
	if source != nil && (lost || x.pending && !misfit) { // its pieces are not looked at: perhaps it is not known which steps it is
		e := to(runs.Skipped)
		if misfit || x.misfit {
			e = to(runs.Skipped, runs.Failed)
		}
		e.maybe = !sure || leftOut
		add("*", e)
		if x.unknown, x.pending = true, x.pending || lost; sure {
			return x
		}
	} else if source != nil && misfit {
		keys, x.unknown = []string{"*"}, true
	}
	if !is {
		keys = nil
	}
	lost, sure = m.lostInputs(inputs)
	lost, sure = lost || fewer, sure || surely
	for _, key := range keys {
		e := m.own(b, b.named(key))
		switch {
		case misfit && !lost:
			e = expected{ends: []runs.Status{runs.Failed}, why: "There is no piece"}
		case misfit || x.misfit: // by what it awaits first
			e = to(runs.Failed, runs.Skipped)
		case sure:
			e = to(runs.Skipped)
		case lost:
			e.ends = append(e.ends, runs.Skipped)
		}
		e.maybe = x.unknown && key != "*" || leftOut
		add(key, e)
	}
	x.pending, x.misfit = x.pending || misfit, x.misfit || misfit
	return x
}

// own is how a step ends whose inputs are all there.
func (m *modeled) own(b *block, name string) expected {
	hurt := m.p.end(name) != ""
	for i := range b.Pieces {
		hurt = hurt || m.p.end(fmt.Sprintf("%s#%d", name, i)) != ""
	}
	sure, may, e := always[b.End], perhaps[b.End], to(runs.Ran)
	switch {
	case hurt && sure != "" && (b.End != "hangs" || b.Time > 0):
		e = expected{ends: []runs.Status{runs.Failed}, why: sure}
	case hurt && may != "" && (b.End != "exits-first" || b.Retry < 2):
		if e = (expected{ends: []runs.Status{runs.Ran, runs.Failed}, why: may}); b.Check == "fails" {
			e = to(runs.Failed) // by the check, or before it
		}
	case b.Check == "fails": // its result is kept
		e = expected{ends: []runs.Status{runs.Failed}, why: `check "enough" fails`}
	}
	return e
}

// disturbed is what may come of steps in a run that was cut short.
func disturbed(all map[string]expected, of people) map[string]expected {
	fails := of.away
	for _, e := range all {
		fails = fails || slices.Contains(e.ends, runs.Failed)
	}
	for at, e := range all {
		if of.away { // it fails what needs it
			e = to(runs.Ran, runs.Failed, runs.Skipped, runs.NotStarted)
		}
		if of.cancelled {
			e.ends = append(e.ends, runs.NotStarted, runs.Cancelled)
		} else if of.failFast && fails {
			e.ends = append(e.ends, runs.NotStarted)
		}
		// Steps that failed, with what needs them, may be left out, and steps that were not known yet.
		e.maybe = e.maybe || of.away || of.skipFailed && !all[at].done() || strings.Contains(at, "[") && (of.cancelled || of.failFast)
		all[at] = e
	}
	return all
}

// TestModel: pipelines that are small enough to see: b is for each of the pieces of a.
func TestModel(t *testing.T) {
	for name, test := range map[string]struct {
		a, c block
		of   people
		want string
	}{
		"grows":     {block{Pieces: 2}, block{After: []string{"b"}}, people{}, `list.a [ran]; short.b["k0"] [ran]; short.b["k1"] [ran]; work.c [ran]`},
		"when":      {block{Pieces: 2}, block{When: "a"}, people{}, `list.a [ran]; short.b["k0"] [ran]; short.b["k1"] [ran]`},
		"empty":     {block{}, block{After: []string{"b"}}, people{}, `list.a [ran]; short.b[*] [failed]; work.c [failed skipped]`},
		"fails":     {block{Pieces: 2, End: "permanent"}, block{Fixed: 1, After: []string{"b"}}, people{}, `list.a [failed]; short.b[*] [skipped]; work.c["k0"] [skipped]`},
		"check":     {block{Pieces: 2, Check: "fails"}, block{}, people{}, `list.a [failed]; short.b[*] [skipped]; work.c [ran]`},
		"fail-fast": {block{Pieces: 2, End: "transient"}, block{}, people{failFast: true}, `list.a [failed not started]; short.b[*] [skipped not started]; work.c [ran not started]`},
		"cancelled": {block{Pieces: 1}, block{}, people{cancelled: true}, `list.a [ran not started cancelled]; short.b["k0"] [ran not started cancelled]; work.c [ran not started cancelled]`},
		"later":     {block{Since: 2}, block{End: "heals"}, people{}, `work.c [ran failed]`},
	} {
		a, b, c := test.a, block{Name: "b", Kind: "short", Files: "a"}, test.c
		a.Name, a.Kind, b.Since, c.Name, c.Kind = "a", "list", test.a.Since, "c", "work"
		var got []string
		for at, e := range model(pipelineScript{Blocks: []block{a, b, c}}, 1, test.of) {
			got = append(got, fmt.Sprint(strings.TrimPrefix(at, "step."), " ", e.ends))
		}
		slices.Sort(got)
		testkit.Is(t, strings.Join(got, "; "), test.want, name)
	}
}
