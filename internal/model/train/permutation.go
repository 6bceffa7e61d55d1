package train

import (
	"math/bits"

	"github.com/redsi/redsi/internal/corpora/splitmix"
)

// permutation is a pseudo-random order of 0 … n-1 that needs no memory: a Feistel network of eight rounds on the
// smallest even number of bits that holds n, walked until the value is below n (Black and Rogaway, Ciphers with
// Arbitrary Finite Domains, 2002). Any position can be asked for, which makes resuming exact.
type permutation struct {
	n    uint64
	half uint // bits of one half
	keys [8]uint64
}

// newPermutation depends on all of the words of key.
func newPermutation(n int, key ...uint64) permutation {
	p := permutation{n: uint64(n), half: uint(max(bits.Len64(uint64(max(n-1, 0)))+1, 2)) / 2}
	h := uint64(0)
	for _, k := range key {
		h = splitmix.Finish(h + splitmix.Gamma + k)
	}
	for i := range p.keys {
		h = splitmix.Finish(h + splitmix.Gamma)
		p.keys[i] = h
	}
	return p
}

// at returns the element at position i < n; each element is at one position.
func (p *permutation) at(i int) int {
	x := uint64(i)
	for {
		if x = p.encrypt(x); x < p.n {
			return int(x)
		}
	}
}

func (p *permutation) encrypt(x uint64) uint64 {
	mask := uint64(1)<<p.half - 1
	left, right := x>>p.half, x&mask
	for _, k := range p.keys {
		left, right = right, left^(splitmix.Finish(right+k)&mask)
	}
	return left<<p.half | right
}
