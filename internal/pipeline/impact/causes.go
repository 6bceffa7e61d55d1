package impact

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// causes are what is other than before, each attribute of a block once.
type causes struct {
	list []Cause
	at   map[causeKey]int
}

// causeKey tells causes apart. Those that differ in values are one.
type causeKey struct{ block, path, where, text string }

// place returns the number of a cause, and counts a step that it changes itself.
func (c *causes) place(x Cause) int {
	key := causeKey{x.Block, x.Path, x.Where, ""}
	if x.Block == "" { // versions of a kind: each pair is one
		key.text = x.Text
	}
	n, ok := c.at[key]
	if !ok {
		n = len(c.list)
		c.at[key] = n
		c.list = append(c.list, x)
	}
	have := &c.list[n]
	have.Steps++
	if have.Old != x.Old || have.New != x.New || have.values {
		have.Old, have.New, have.Text, have.values = "", "", cmp.Or(x.Path, "it")+" differs", true
	}
	return n
}

// set is an immutable set of causes, as bits by their numbers; nil bits: empty.
type set struct{ bits *big.Int }

func (s set) empty() bool { return s.bits == nil }

func (s set) plus(n int) set { return s.with(set{new(big.Int).SetBit(new(big.Int), n, 1)}) }

func (s set) with(t set) set {
	switch {
	case t.empty() || s == t:
		return s
	case s.empty():
		return t
	case new(big.Int).AndNot(t.bits, s.bits).BitLen() == 0: // s has them all
		return s
	}
	return set{new(big.Int).Or(s.bits, t.bits)}
}

func (s set) each(do func(n int)) {
	for n := 0; !s.empty() && n < s.bits.BitLen(); n++ {
		if s.bits.Bit(n) == 1 {
			do(n)
		}
	}
}

// versions finds the steps of Was that are no hits only because kinds have other versions now, and each step's causes.
func (c *comparison) versions(ctx context.Context) ([]set, error) {
	found := make([]set, len(c.Was.Items))
	for j := range c.Was.Plan.Steps {
		x, it := &c.Was.Plan.Steps[j], &c.Was.Items[j]
		if it.Outcome == plan.Hit {
			continue
		}
		var before set
		for _, d := range x.Deps {
			before = before.with(found[d])
		}
		old, err := c.Newest(ctx, j)
		if err != nil {
			return nil, err
		}
		if old == nil {
			continue
		}
		now := it.Preimage
		if it.Outcome == plan.Maybe {
			if now, err = c.outline(x.Task, map[string]string{}); err != nil {
				return nil, fmt.Errorf("%s: %w", x.Address, err)
			}
		}
		changes, err := step.Diff(old, now)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.Address, err)
		}
		var rules []step.Change
		pure := true
		for _, ch := range changes {
			switch {
			case ch.Path == "version" || ch.Path == "parts" || strings.HasPrefix(ch.Path, "parts["): // its kind's rules, not what is asked of it
				rules = append(rules, ch)
			case isInput(ch.Old) && isInput(ch.New): // what it reads is rebuilt
			default:
				pure = false
			}
		}
		if !pure || len(rules) == 0 && before.empty() {
			continue
		}
		for _, ch := range rules {
			before = before.plus(c.causes.place(Cause{Path: ch.Path, Old: ch.Old, New: ch.New, Text: versionText(x.Task.Kind, ch)}))
		}
		c.stood[j], found[j] = true, before
	}
	return found, nil
}

// versionText says which kind has another version: render_table 5 -> 6.
func versionText(kind string, ch step.Change) string {
	part := func(s string) (name, version string) {
		if u, err := strconv.Unquote(s); err == nil {
			s = u
		}
		name, version, _ = strings.Cut(s, "@")
		return name, version
	}
	switch {
	case ch.Path == "version":
		return fmt.Sprintf("kind %s: version %s -> %s", kind, ch.Old, ch.New)
	case ch.Old != "" && ch.New != "":
		name, old := part(ch.Old)
		if other, now := part(ch.New); other == name {
			return fmt.Sprintf("kind %s: version %s -> %s, whose parts %s has", name, old, now, kind)
		}
	}
	return fmt.Sprintf("kind %s: %s", kind, ch)
}

// Format names the form of a report in JSON.
const Format = "redsi-impact/1"

type Report struct {
	Format string   `json:"format"`
	A      string   `json:"a"` // what is compared, for people
	B      string   `json:"b"`
	Notes  []string `json:"notes"` // what the reader has to know of how it was compared

	Steps  Counts        `json:"steps"`
	Cost   estimate.Cost `json:"cost"`   // of what the change makes run
	Causes []Cause       `json:"causes"` // the cause that moves most steps first
	Tables []Table       `json:"tables"` // that the change touches, in the plan's order
	Claims []Claim       `json:"claims"` // of tables that it touches
	Each   []Change      `json:"changes"`
}

// Runs reports whether anything runs that would not run without the change.
func (r *Report) Runs() bool { return r.Steps.Run+r.Steps.Maybe+r.Steps.New > 0 }

// Counts are of steps, each once.
type Counts struct {
	Same   int `json:"same"`   // nothing is other than before
	Run    int `json:"run"`    // from HIT to RUN
	Maybe  int `json:"maybe"`  // from HIT to MAYBE
	New    int `json:"new"`    // not there before, no hits
	Hit    int `json:"hit"`    // to HIT: from RUN or MAYBE, or new and there already
	Cut    int `json:"cut"`    // HIT before and after, under another key
	Gone   int `json:"gone"`   // not there any more
	Anyway int `json:"anyway"` // no hits before the change either
}

// Cause is one thing that differs: an attribute of a block, the version of a kind, a new block.
type Cause struct {
	Block  string        `json:"block,omitempty"` // step.train.dsi; "" of the version of a kind
	Path   string        `json:"path"`            // config.options.lists, version, or "" of a new block
	Old    string        `json:"old,omitempty"`   // "" where the steps of the block differ
	New    string        `json:"new,omitempty"`
	Text   string        `json:"text"` // for people
	Where  string        `json:"where,omitempty"`
	Steps  int           `json:"steps"` // that it changes themselves
	Moves  estimate.Cost `json:"moves"` // what runs because of it, and maybe because of others too
	values bool          // that its steps differ in
}

// Table is what the change does to the steps that a table or figure needs.
type Table struct {
	Address string        `json:"address"`
	Before  plan.Outcome  `json:"before,omitempty"` // "" if it was not there
	After   plan.Outcome  `json:"after,omitempty"`  // "" if it is gone
	Counts  Counts        `json:"steps"`
	Cost    estimate.Cost `json:"cost"`
	Claims  int           `json:"claims"`
}

// Claim is a sentence of the paper that a table holds.
type Claim struct {
	Table string `json:"table"`
	Text  string `json:"text"`
}

// Change is what becomes of a step.
type Change struct {
	Address string       `json:"address"`
	Before  plan.Outcome `json:"before,omitempty"`
	After   plan.Outcome `json:"after,omitempty"`
	Stood   bool         `json:"stood,omitempty"`  // only the version of a kind keeps it from being a hit before
	Charged bool         `json:"charged"`          // it runs because of the change
	Causes  []int        `json:"causes,omitempty"` // places in the report's causes
	Expect  *float64     `json:"expect_s,omitempty"`
}
