package gunzip

import "math/bits"

// table decodes a prefix code: the next firstBits bits of input index first, whose
// entry is a symbol's, or says where in rest the longer codes with these bits are.
//
// An entry is
//
//	bits 0 to 4    bits of input that it takes, extra bits included
//	bits 8 to 11   bits of the code alone
//	bit 13, 14, 15 literal, special, long
//	bits 16 to 31  literal, or length or offset without its extra bits
//
// Special are the end of a block (value endOfBlock) and codes that no symbol has. A
// long one has the place in rest as its value and the bits that index it in bits 8
// to 11; the entries there do not count the first bits.
type table struct {
	first [1 << firstBits]uint32
	rest  []uint32
}

const (
	firstBits = 10
	firstMask = 1<<firstBits - 1
	maxBits   = 15 // of a code
	maxMatch  = 258

	bitsMask = 31
	codeAt   = 8
	codeMask = 15
	literal  = 1 << 13
	special  = 1 << 14
	long     = 1 << 15
	valueAt  = 16

	endOfBlock = 1
	noSymbol   = special // value 0
)

// entry is a symbol's without the bits of its code.
type entry func(symbol int) uint32

func valueEntry(symbol int) uint32 { return uint32(symbol) << valueAt }

// symbolEntry is for literals and lengths (RFC 1951, 3.2.5).
func symbolEntry(symbol int) uint32 {
	switch {
	case symbol < 256:
		return literal | uint32(symbol)<<valueAt
	case symbol == 256:
		return special | endOfBlock<<valueAt
	case symbol < 265:
		return uint32(symbol-257+3) << valueAt
	case symbol < 285:
		extra := uint32(symbol-261) / 4
		return extra | ((4+uint32(symbol-265)%4)<<extra+3)<<valueAt
	case symbol == 285:
		return maxMatch << valueAt
	}
	return noSymbol
}

// offsetEntry is for the distances of matches.
func offsetEntry(symbol int) uint32 {
	switch {
	case symbol < 4:
		return uint32(symbol+1) << valueAt
	case symbol < maxOffsets:
		extra := uint32(symbol-2) / 2
		return extra | ((2+uint32(symbol)%2)<<extra+1)<<valueAt
	}
	return noSymbol
}

// build makes the table of the canonical code with these lengths, 0 for a symbol
// without a code. As in compress/flate the code must be complete, or be one code of
// one bit, or none at all; build reports whether it is.
func (t *table) build(lengths []uint8, of entry) bool {
	var count [maxBits + 1]int
	longest := 0
	for _, n := range lengths {
		count[n]++
		longest = max(longest, int(n))
	}
	count[0] = 0
	for i := range t.first {
		t.first[i] = noSymbol
	}
	t.rest = t.rest[:0]
	if longest == 0 {
		return true
	}
	var next [maxBits + 1]int // code of each length
	code := 0
	for n := 1; n <= longest; n++ {
		code <<= 1
		next[n] = code
		code += count[n]
	}
	if code != 1<<longest && (code != 1 || longest != 1) {
		return false
	}
	for symbol, n8 := range lengths {
		if n8 == 0 {
			continue
		}
		n := int(n8)
		reversed := int(bits.Reverse16(uint16(next[n])) >> (16 - n))
		next[n]++
		e := of(symbol)
		if n <= firstBits {
			e += uint32(n) | uint32(n)<<codeAt
			for i := reversed; i < len(t.first); i += 1 << n {
				t.first[i] = e
			}
			continue
		}
		n -= firstBits
		e += uint32(n) | uint32(n)<<codeAt
		rest := t.after(reversed&firstMask, longest-firstBits)
		for i := reversed >> firstBits; i < len(rest); i += 1 << n {
			rest[i] = e
		}
	}
	return true
}

// after is the part of rest for codes that begin with the bits of at, made if need be.
func (t *table) after(at, n int) []uint32 {
	if t.first[at]&long == 0 {
		t.first[at] = long | uint32(n)<<codeAt | uint32(len(t.rest))<<valueAt
		for range 1 << n {
			t.rest = append(t.rest, noSymbol)
		}
	}
	start := int(t.first[at] >> valueAt)
	return t.rest[start : start+1<<n]
}
