package train

import "math/bits"

// permutation is a pseudo-random order of 0 … n-1 that needs no memory: a Feistel
// network of eight rounds on the smallest even number of bits that holds n, walked
// until the value is below n (Black and Rogaway, Ciphers with Arbitrary Finite
// Domains, 2002). Any position can be asked for, which makes resuming exact.
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
		h = mix(h + 0x9e3779b97f4a7c15 + k)
	}
	for i := range p.keys {
		h = mix(h + 0x9e3779b97f4a7c15)
		p.keys[i] = h
	}
	return p
}

// at returns the element at position i < n; each element stands at one position.
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
		left, right = right, left^(mix(right+k)&mask)
	}
	return left<<p.half | right
}

// mix is the finalizer of splitmix64 (Steele, Lea, Flood: Fast splittable
// pseudorandom number generators, 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
