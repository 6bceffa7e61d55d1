package simulate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/workflows"
)

// The model of what a run is, from the documents for users: pipelines.md says which steps there
// are, reliability.md and commands.md how they end.

// people are what was done to a run, and to what it needs.
type people struct {
	failFast, skipFailed, cancelled bool
	away                            bool // the store, for longer than a run waits for it
}

// expected is how a step of a run ends. Ran stands for Hit, too.
type expected struct {
	ends  []workflows.Status // that it may have
	why   string             // a part of its error, if it fails
	maybe bool               // it need not be there
}

func (e expected) done() bool { return slices.Equal(e.ends, []workflows.Status{workflows.Ran}) }

// model is how the steps of a run of an edition end, by address.
func model(p pipelineScript, edition int, of people) map[string]expected {
	m := &modeled{p: p, of: map[string]*modeledBlock{}, all: map[string]expected{}, unfit: map[string]bool{}}
	for _, b := range p.Blocks {
		if b.Since <= edition && b.grown() && !b.Empty && p.block(b.Files+b.Names).Pieces == 0 {
			m.unfit[b.Files+b.Names+b.Of] = true
		}
	}
	for i := range p.Blocks {
		if b := &p.Blocks[i]; b.Since <= edition {
			m.block(b)
		}
	}
	return disturbed(m.all, of)
}

type modeled struct {
	p     pipelineScript
	of    map[string]*modeledBlock
	all   map[string]expected
	unfit map[string]bool // outputs, by block and key, with which the pipeline does not load: what awaits them fails
}

// modeledBlock is what has become of a block.
type modeledBlock struct {
	steps, keys []string // addresses; "" of one that is not for each
	unknown     bool     // which steps it is stays unknown
	pending     bool     // it waits, perhaps for ever, for what decides about it or what it reads
	misfit      bool     // so does what does not fit: it fails or, by another failure, is skipped
}

// waits are the steps, among those that one waits for, that do not end well; sure is false if
// that is so perhaps only.
func (m *modeled) waits(on []string) (lost []string, sure bool) {
	for _, at := range on {
		if e := m.all[at]; !e.done() {
			lost = append(lost, at)
			sure = sure || !e.maybe && !slices.Contains(e.ends, workflows.Ran)
		}
	}
	return lost, sure
}

func (m *modeled) block(b *block) {
	x, any := &modeledBlock{}, b.at("")+"[*]"
	m.of[b.Name] = x
	add := func(at string, e expected) { x.steps, m.all[at] = append(x.steps, at), e }
	var inputs []string // what each of its steps waits for
	for _, a := range b.After {
		x.pending, x.misfit = x.pending || m.of[a].pending, x.misfit || m.of[a].misfit
		inputs = append(inputs, m.of[a].steps...)
	}
	misfit := m.unfit[b.When] || b.grown() && m.unfit[b.Files+b.Names+b.Of]
	is, leftOut := b.When != "false" || misfit, false // there are such steps; perhaps there are not
	if decides := m.of[b.When]; decides != nil {
		lost, sure := m.waits(decides.steps)
		if !m.p.block(b.When).OK {
			leftOut, is = !sure, len(lost) > 0 || x.pending || misfit
		}
		inputs = append(inputs, decides.steps...)
		x.pending = x.pending || len(lost) > 0
	}
	x.keys = keysOf(b.Fixed)
	pieces, source := []string{}, m.of[b.Files+b.Names]
	switch {
	case source != nil:
		pieces = source.steps
		if i := slices.Index(source.keys, b.Of); b.Of != "" && !source.unknown {
			pieces = source.steps[i : i+1]
		}
		inputs = append(inputs, pieces...)
		x.keys = keysOf(m.p.block(b.Files + b.Names).Pieces)
	case b.Fixed == 0:
		x.keys = []string{""}
	}
	lost, sure := m.waits(pieces)
	switch {
	case source == nil:
	case len(lost) > 0: // perhaps it is not known which steps it is
		x.unknown, x.pending = true, true
		add(any, expected{ends: []workflows.Status{workflows.Skipped}, maybe: !sure || leftOut})
		if misfit || x.misfit {
			add(any, expected{ends: []workflows.Status{workflows.Skipped, workflows.Failed}, maybe: !sure || leftOut})
		}
		if sure {
			return
		}
	case misfit:
		x.keys, x.unknown = []string{"*"}, true
	case x.pending: // its pieces are not looked at
		add(any, expected{ends: []workflows.Status{workflows.Skipped}, maybe: true})
		if x.misfit {
			add(any, expected{ends: []workflows.Status{workflows.Skipped, workflows.Failed}, maybe: true})
		}
		x.unknown = true
	}
	if !is {
		x.keys = nil
	}
	for _, key := range x.keys {
		at, e := b.at(key), m.own(b, b.named(key))
		if key == "*" {
			at = any
		}
		e.maybe = x.unknown && key != "*" || leftOut
		never, sure := m.waits(inputs)
		switch {
		case misfit && len(never) == 0:
			e.ends, e.why = []workflows.Status{workflows.Failed}, "There is no piece"
		case misfit || x.misfit: // by what it awaits first
			e = expected{ends: []workflows.Status{workflows.Failed, workflows.Skipped}, maybe: e.maybe}
		case sure:
			e = expected{ends: []workflows.Status{workflows.Skipped}, maybe: e.maybe}
		case len(never) > 0:
			e.ends = append(slices.Clone(e.ends), workflows.Skipped)
		}
		add(at, e)
	}
	x.pending, x.misfit = x.pending || misfit, x.misfit || misfit
}

func keysOf(n int) (keys []string) {
	for i := range n {
		keys = append(keys, keyOf(i))
	}
	return keys
}

const anyText = "" // is a part of every error

// own is how a step ends whose inputs are all there.
func (m *modeled) own(b *block, name string) expected {
	failed := func(why string) expected { return expected{ends: []workflows.Status{workflows.Failed}, why: why} }
	perhaps := func(why string) expected {
		return expected{ends: []workflows.Status{workflows.Ran, workflows.Failed}, why: why}
	}
	names := []string{name}
	if b.cut() {
		for i := range b.Pieces {
			names = append(names, fmt.Sprintf("%s#%d", name, i))
		}
	}
	out := expected{ends: []workflows.Status{workflows.Ran}}
	if b.Check == "fails" {
		out = failed(`check "enough" fails`) // of its result, which is kept
	}
	for _, n := range names {
		switch m.p.end(n) {
		case "transient":
			return failed("(tried 1") // 10 times, and again where that could not be told
		case "permanent":
			return failed("it cannot be done")
		case "panics":
			return failed("a mistake of the kind")
		case "hangs":
			if b.Time > 0 {
				return failed("longer than its time")
			}
		case "changed":
			return failed("other bytes")
		case "exits":
			return failed("program exited with code 3")
		case "exits-first": // on their own tries of all runs
			if b.Retry < 2 {
				out = perhaps("program exited with code 3")
			}
		case "heals":
			out = perhaps("it cannot be done")
		case "pins-panic": // after the work: nobody has said how that ends
			out = perhaps("a mistake of the kind")
		}
	}
	if b.Check == "fails" && out.why != `check "enough" fails` {
		out = failed(anyText) // by the check, or before it
	}
	return out
}

// disturbed is what may come of steps in a run that was cut short.
func disturbed(all map[string]expected, of people) map[string]expected {
	fails := false
	for _, e := range all {
		fails = fails || slices.Contains(e.ends, workflows.Failed)
	}
	for at, e := range all {
		switch {
		case of.away: // it fails what needs it
			e.ends, e.why, e.maybe = []workflows.Status{workflows.Ran, workflows.Failed, workflows.Skipped, workflows.NotStarted}, anyText, true
		case of.skipFailed: // those that failed, with what needs them, are not in it
			e.maybe = e.maybe || !e.done()
		}
		if of.cancelled {
			e.ends = append(slices.Clone(e.ends), workflows.NotStarted, workflows.Cancelled)
		} else if of.failFast && (fails || of.away) {
			e.ends = append(slices.Clone(e.ends), workflows.NotStarted)
		}
		e.maybe = e.maybe || strings.Contains(at, "[") && (of.cancelled || of.failFast)
		all[at] = e
	}
	return all
}

// TestModel: pipelines that are small enough to see.
func TestModel(t *testing.T) {
	piece := func(more block) []block {
		more.Name, more.Kind, more.Since = "c", "work", 1
		return []block{{Name: "a", Kind: "list", Pieces: 2, OK: false, Since: 1}, {Name: "b", Kind: "short", Files: "a", Since: 1}, more}
	}
	both := func(a, b block) []block {
		all := piece(b)
		all[0].End, all[0].Pieces, all[0].Check = a.End, a.Pieces, a.Check
		return all
	}
	for name, c := range map[string]struct {
		blocks []block
		of     people
		want   string
	}{
		"grows":     {piece(block{After: []string{"b"}}), people{}, `list.a ran; short.b["k0"] ran; short.b["k1"] ran; work.c ran`},
		"when":      {piece(block{When: "a"}), people{}, `list.a ran; short.b["k0"] ran; short.b["k1"] ran`},
		"empty":     {both(block{}, block{After: []string{"b"}}), people{}, `list.a ran; short.b[*] failed; work.c failed,skipped`},
		"fails":     {both(block{End: "permanent", Pieces: 2}, block{Fixed: 1, After: []string{"b"}}), people{}, `list.a failed; short.b[*] skipped; work.c["k0"] skipped`},
		"check":     {both(block{Check: "fails", Pieces: 2}, block{}), people{}, `list.a failed; short.b[*] skipped; work.c ran`},
		"fail-fast": {both(block{End: "transient", Pieces: 2}, block{}), people{failFast: true}, `list.a failed,not started; short.b[*] skipped,not started; work.c ran,not started`},
		"cancelled": {piece(block{}), people{cancelled: true}, `list.a ran,not started,cancelled; short.b["k0"] ran,not started,cancelled; short.b["k1"] ran,not started,cancelled; work.c ran,not started,cancelled`},
		"later":     {[]block{{Name: "a", Kind: "work", Since: 2}, {Name: "b", Kind: "work", Since: 1, End: "heals"}}, people{}, `work.b ran,failed`},
	} {
		var got []string
		for at, e := range model(pipelineScript{Blocks: c.blocks}, 1, c.of) {
			var ends []string
			for _, s := range e.ends {
				ends = append(ends, string(s))
			}
			got = append(got, strings.TrimPrefix(at, "step.")+" "+strings.Join(ends, ","))
		}
		slices.Sort(got)
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, s, c.want)
		}
	}
}
