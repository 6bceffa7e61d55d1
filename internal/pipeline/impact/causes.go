package impact

import (
	"cmp"
	"math/bits"
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

// set is some causes by their numbers.
type set []uint64

func (s set) empty() bool { return len(s) == 0 }

// plus returns the set with one more; s stays as it is.
func (s set) plus(n int) set {
	out := make(set, max(len(s), n/64+1))
	copy(out, s)
	out[n/64] |= 1 << (n % 64)
	return out
}

// with returns all of two sets, which stay as they are.
func (s set) with(t set) set {
	if len(t) == 0 {
		return s
	}
	if len(s) == 0 {
		return t
	}
	if s.has(t) {
		return s
	}
	out := make(set, max(len(s), len(t)))
	copy(out, s)
	for i, w := range t {
		out[i] |= w
	}
	return out
}

// has reports whether all of t is in s.
func (s set) has(t set) bool {
	for i, w := range t {
		if w != 0 && (i >= len(s) || s[i]&w != w) {
			return false
		}
	}
	return true
}

func (s set) each(do func(n int)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			do(i*64 + bits.TrailingZeros64(w))
		}
	}
}

// isVersion reports whether a change of a preimage is one of the kind's rules and not of
// what is asked of it.
func isVersion(path string) bool {
	return path == "version" || path == "parts" || strings.HasPrefix(path, "parts[")
}
