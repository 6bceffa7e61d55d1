package synth

import (
	"math/bits"

	"github.com/redsi/redsi/internal/corpora/splitmix"
)

type rng struct{ splitmix.Source }

// newRNG returns the random numbers of one decision, see mix.
func newRNG(words ...uint64) *rng { return &rng{splitmix.Source(mix(words...))} }

func (r *rng) chance(percent int) bool { return r.Below(100) < percent }

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

func pick[T any](r *rng, list []T) T { return list[r.Below(len(list))] }

// shuffle permutes list in place (Fisher and Yates).
func shuffle[T any](r *rng, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := r.Below(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}
