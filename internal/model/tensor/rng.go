package tensor

// #include "native/composed.h"
import "C"

import (
	"math"

	"github.com/redsi/redsi/internal/corpora/splitmix"
)

// RNG is a source of random numbers whose state is two numbers, so that it can be stored in a checkpoint and continued
// exactly. The zero value is seed 0.
type RNG struct {
	Seed    uint64 `json:"seed"`
	Counter uint64 `json:"counter"` // how many keys have been handed out
}

// key is a fresh 64-bit number: splitmix64 over seed and counter.
func (r *RNG) key() uint64 {
	r.Counter++
	return splitmix.Finish(splitmix.Finish(r.Seed) + r.Counter*splitmix.Gamma)
}

// keyFor is a fresh key where p asks for random numbers; otherwise the state stays.
func (r *RNG) keyFor(p float64) uint64 {
	if p == 0 {
		return 0
	}
	return r.key()
}

// SeedDevice seeds what dropout on dev draws from, by a fresh number of r: once per step.
// Without a card, where every mask has a number of its own, nothing is drawn.
func SeedDevice(dev Device, r *RNG) {
	if dev.IsCUDA() {
		must("SeedDevice of "+dev.String(), C.redsi_seed(C.int(dev.c()), C.uint64_t(r.key())))
	}
}

// RandomState is where what dropout draws from on a card is, on the CPU; nil without a card.
func (s *Scope) RandomState(dev Device) *Tensor {
	if !dev.IsCUDA() {
		return nil
	}
	return s.native("RandomState", func(out *handle) *C.char { return C.redsi_random_state(out, C.int(dev.c())) })
}

// SetRandomState goes back to RandomState: the same numbers are drawn from there.
func SetRandomState(dev Device, state *Tensor) {
	if dev.IsCUDA() {
		must("SetRandomState of "+dev.String(), C.redsi_set_random_state(C.int(dev.c()), state.n("SetRandomState")), state)
	}
}

// Normal is a CPU tensor of normally distributed F32 numbers (Box-Muller).
func (s *Scope) Normal(rng *RNG, mean, std float64, shape ...int64) *Tensor {
	t := s.Empty(F32, CPU, shape...)
	values := t.Shared()
	key := rng.key()
	for i := 0; i < len(values); i += 2 {
		r := math.Sqrt(-2 * math.Log(1-unit(key, i)))
		sin, cos := math.Sincos(2 * math.Pi * unit(key, i+1))
		values[i] = float32(mean + std*r*cos)
		if i+1 < len(values) {
			values[i+1] = float32(mean + std*r*sin)
		}
	}
	return t
}

// Uniform is a CPU tensor of F32 numbers, uniform between low and high.
func (s *Scope) Uniform(rng *RNG, low, high float64, shape ...int64) *Tensor {
	t := s.Empty(F32, CPU, shape...)
	values := t.Shared()
	key := rng.key()
	for i := range values {
		values[i] = float32(low + (high-low)*unit(key, i))
	}
	return t
}

// unit is the i-th number of key, uniform in [0, 1).
func unit(key uint64, i int) float64 {
	return float64(splitmix.Finish(key+uint64(i)*splitmix.Gamma)>>11) / (1 << 53)
}
