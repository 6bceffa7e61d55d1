package tensor

// #include "native/composed.h"
import "C"

import "math"

// Buckets are the relative positions of T5 and MPNet: rows of a table, by how far a key is from its query.
type Buckets struct {
	Number      int64 // rows of the table
	MaxDistance int64 // from it on all distances are one
	Both        bool  // keys after the query have rows of their own; else they are at 0
}

// Of is the row for a key that is distance positions after the query (T5Attention._relative_position_bucket): half of
// the buckets are exact, the others grow with the logarithm up to MaxDistance.
func (b Buckets) Of(distance int64) int64 {
	buckets, first := b.Number, int64(0)
	if b.Both {
		buckets /= 2
		if distance > 0 {
			first = buckets
		}
		distance = max(distance, -distance)
	} else {
		distance = max(-distance, 0)
	}
	exact := buckets / 2
	if distance < exact {
		return first + distance
	}
	// NOTE transformers computes in float32 and cuts off; float64 would put some
	// distances that are exact powers into the bucket below.
	ratio := float32(math.Log(float64(float32(distance) / float32(exact))))
	scaled := ratio / float32(math.Log(float64(b.MaxDistance)/float64(exact))) * float32(buckets-exact)
	return first + min(exact+int64(scaled), buckets-1)
}

// RelativeBias is what is added to the scores of up to most positions, query i and key j: table [Number, heads] ->
// [heads, most, most]. On a card it uploads b's Distances; RelativeBiasOf takes Distances that are there, for a bias
// that each step needs.
func (s *Scope) RelativeBias(table *Tensor, most int64, b Buckets) *Tensor {
	if table.Device().IsCUDA() {
		return s.RelativeBiasOf(table, most, s.Upload(table.Device(), b.Distances(most))[0])
	}
	index := make([]int64, 0, most*most)
	for i := range most {
		for j := range most {
			index = append(index, b.Of(j-i))
		}
	}
	rows := s.IndexSelect(table, 0, s.FromInt64s(index, table.Device(), most*most)) // [most*most, heads]
	return s.Contiguous(s.View(s.Transpose(rows, 0, 1), table.Dim(1), most, most))
}

// Distances are the rows of all distances between up to most positions, 2*most-1 numbers.
func (b Buckets) Distances(most int64) (array []int64) {
	for distance := 1 - most; distance < most; distance++ {
		array = append(array, b.Of(distance))
	}
	return array
}

// RelativeBiasOf is RelativeBias by Distances that are where the table is.
func (s *Scope) RelativeBiasOf(table *Tensor, most int64, distances *Tensor) *Tensor {
	const op = "RelativeBiasOf"
	return s.native(op, func(out *handle) *C.char {
		return C.redsi_relative_bias(out, table.n(op), distances.n(op), C.int64_t(most))
	}, table, distances)
}
