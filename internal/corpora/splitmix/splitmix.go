// Package splitmix is splitmix64 in parts (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): the
// generator with state s is s += Gamma and Finish(s). Results depend on these bits: they never change.
package splitmix

import "math/bits"

// Gamma is the increment of the state: 2^64 over the golden ratio, made odd.
const Gamma = 0x9e3779b97f4a7c15

// Finish is the output function, a bijection.
func Finish(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Source is the generator, by its state. It draws integers only, so that no machine rounds differently.
type Source uint64

// Next returns the next 64 bits.
func (s *Source) Next() uint64 {
	*s += Gamma
	return Finish(uint64(*s))
}

// Below is a number from 0 to n-1, by Lemire's multiplication without rejection: for n below 2^32 the bias is below
// 2^-32.
func (s *Source) Below(n int) int {
	high, _ := bits.Mul64(s.Next(), uint64(n))
	return int(high)
}
