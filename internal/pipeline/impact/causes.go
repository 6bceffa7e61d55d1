package impact

import (
	"cmp"
	"math/big"
	"strings"
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

// set is some causes, as bits by their numbers; nil is none. It stays as it is.
type set struct{ bits *big.Int }

func (s set) empty() bool { return s.bits == nil }

// plus returns the set with one more.
func (s set) plus(n int) set { return s.with(set{new(big.Int).SetBit(new(big.Int), n, 1)}) }

// with returns all of two sets.
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

// isVersion reports whether a preimage changed in its kind's rules, not in what is asked of it.
func isVersion(path string) bool {
	return path == "version" || path == "parts" || strings.HasPrefix(path, "parts[")
}
