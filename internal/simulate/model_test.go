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
	needs []string           // steps that it waits for, at last
}

func (e expected) done() bool { return slices.Equal(e.ends, []workflows.Status{workflows.Ran}) }

// model is how the steps of a run of an edition end, by address.
func model(p pipelineScript, edition int, of people) map[string]expected {
	m := &modeled{p: p, of: map[string]*modeledBlock{}, all: map[string]expected{}}
	m.unfit = slices.ContainsFunc(p.Blocks, func(b block) bool {
		return b.Since <= edition && b.grown() && !b.Empty && p.block(b.Files+b.Names).Pieces == 0
	})
	for i := range p.Blocks {
		if b := &p.Blocks[i]; b.Since <= edition {
			m.block(b)
		}
	}
	return disturbed(m.all, of)
}

type modeled struct {
	p   pipelineScript
	of  map[string]*modeledBlock
	all map[string]expected

	// Where one block has no piece the pipeline does not fit what was made, and all steps that are
	// not known by then may fail of it.
	unfit bool
}

// modeledBlock is what has become of a block.
type modeledBlock struct {
	at      string
	steps   []string // addresses
	keys    []string // "" of one that is not for each
	unknown bool     // which steps it is stays unknown
	when    bool     // it was not left out
	blurred bool     // by what does not fit
	pending bool     // it waits, perhaps for ever, for what decides about it or what it reads
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
	x := &modeledBlock{at: fmt.Sprintf("step.%s.%s", b.Kind, b.Name), when: b.When != "false"}
	m.of[b.Name] = x
	var inputs []string // what each of its steps waits for
	x.blurred = m.unfit && (b.grown() || m.of[b.When] != nil)
	for _, a := range b.After {
		x.blurred = x.blurred || m.of[a].blurred
		x.pending = x.pending || m.of[a].pending
		inputs = append(inputs, m.of[a].steps...)
	}
	leftOut := false // perhaps
	if decides := m.of[b.When]; decides != nil && !m.p.block(b.When).OK {
		lost, sure := m.waits(decides.steps)
		leftOut, x.when = !sure, len(lost) > 0 || x.pending
	}
	if decides := m.of[b.When]; decides != nil {
		inputs = append(inputs, decides.steps...)
		lost, _ := m.waits(decides.steps)
		x.pending = x.pending || len(lost) > 0
	}
	x.keys = []string{""}
	switch from := m.of[b.Files+b.Names]; {
	case b.Fixed > 0:
		x.keys = keysOf(b.Fixed)
	case b.grown():
		pieces := from.steps
		if i := slices.Index(from.keys, b.Of); b.Of != "" && !from.unknown {
			pieces = from.steps[i : i+1]
		}
		n := m.p.block(b.Files + b.Names).Pieces
		lost, sure := m.waits(pieces)
		empty := n == 0 && !b.Empty
		if len(lost) > 0 || empty {
			any := x.at + "[*]"
			x.unknown, x.pending = true, true
			switch {
			case len(lost) == 0:
				m.add(x, any, expected{ends: []workflows.Status{workflows.Failed}, why: "There is no piece"})
			case sure:
				m.add(x, any, expected{ends: []workflows.Status{workflows.Skipped}, needs: lost})
			default:
				m.add(x, any, expected{ends: []workflows.Status{workflows.Skipped, workflows.Failed}, needs: lost, maybe: true, why: anyText})
			}
			if sure || empty {
				return
			}
		}
		inputs = append(inputs, pieces...)
		x.keys = keysOf(n)
	}
	if !x.when {
		x.keys = nil
	}
	if any := x.at + "[*]"; x.blurred && b.grown() && !x.unknown {
		m.add(x, any, expected{})
	}
	if any := x.at + "[*]"; x.pending && b.grown() && !x.unknown { // its pieces are not looked at
		lost, _ := m.waits(inputs)
		m.add(x, any, expected{ends: []workflows.Status{workflows.Skipped}, needs: lost, maybe: true})
		x.unknown = true
	}
	for _, key := range x.keys {
		at := x.at
		if key != "" {
			at += fmt.Sprintf("[%q]", key)
		}
		e := m.own(b, nameOf(b.Name, key))
		if lost, sure := m.waits(inputs); sure {
			e = expected{ends: []workflows.Status{workflows.Skipped}, needs: lost}
		} else if len(lost) > 0 {
			e.ends, e.needs = append(slices.Clone(e.ends), workflows.Skipped), lost
		}
		e.maybe = x.unknown || leftOut
		m.add(x, at, e)
	}
}

func (m *modeled) add(x *modeledBlock, at string, e expected) {
	if x.blurred {
		e.ends, e.why, e.maybe = []workflows.Status{workflows.Ran, workflows.Failed, workflows.Skipped}, anyText, true
	}
	x.steps = append(x.steps, at)
	m.all[at] = e
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
			return failed("tried 10 times")
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
			e.ends, e.why, e.maybe, e.needs = []workflows.Status{workflows.Ran, workflows.Failed, workflows.Skipped, workflows.NotStarted}, anyText, true, nil
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

// pendingOf is the address under which a step is that is not known yet.
func pendingOf(at string) string {
	block, _, _ := strings.Cut(at, "[")
	return block + "[*]"
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
		"empty":     {both(block{}, block{After: []string{"b"}}), people{}, `list.a ran; short.b[*] ran,failed,skipped; work.c ran,failed,skipped`},
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
