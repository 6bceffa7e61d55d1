package synth

import (
	"math/bits"

	"github.com/redsi/redsi/internal/corpora/splitmix"
)

// rng is splitmix64, fixed by definition, for any seed. Integers only, so that no machine rounds differently.
type rng struct{ state uint64 }

func (r *rng) next() uint64 {
	r.state += splitmix.Gamma
	return splitmix.Finish(r.state)
}

// n draws from 0..k-1; k is small, so the bias is below 2^-40.
func (r *rng) n(k int) int {
	hi, _ := bits.Mul64(r.next(), uint64(k))
	return int(hi)
}

func (r *rng) chance(percent int) bool { return r.n(100) < percent }

// mix hashes numbers that name one decision, for instance seed, purpose, page.
func mix(words ...uint64) uint64 {
	h := uint64(splitmix.Gamma)
	for _, w := range words {
		h = splitmix.Finish(h ^ w*splitmix.Gamma + bits.RotateLeft64(h, 23))
	}
	return h
}

// The purposes separate the decisions about one page or record.
const (
	forPage uint64 = iota + 1
	forBody
	forNames
	forQuestion
	forRecord
	forPlan
	forStub
	forExample
	forAnnotation
)

func pick[T any](r *rng, list []T) T { return list[r.n(len(list))] }

// shuffle permutes list in place (Fisher and Yates).
func shuffle[T any](r *rng, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := r.n(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}
