//go:build !notorch

package t5

import (
	"math"

	"github.com/redsi/redsi/internal/tensor"
)

// bucket is the row of the relative position table for a key that is distance
// positions after the query (T5Attention._relative_position_bucket): half of the
// buckets are exact, the others grow with the logarithm up to max_distance. The
// encoder's table has one half for each direction; the decoder only looks back.
func bucket(distance, buckets, maxDistance int64, bidirectional bool) int64 {
	var first int64
	if bidirectional {
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
	scaled := ratio / float32(math.Log(float64(maxDistance)/float64(exact))) * float32(buckets-exact)
	return first + min(exact+int64(scaled), buckets-1)
}

// positionBias is the additive bias of a stack, [heads, most, most]: query i, key j.
func (n *network) positionBias(s *tensor.Scope, table *tensor.Tensor, most int64, bidirectional bool) *tensor.Tensor {
	index := make([]int64, 0, most*most)
	for i := range most {
		for j := range most {
			index = append(index, bucket(j-i, n.c.Buckets, n.c.MaxDistance, bidirectional))
		}
	}
	rows := s.IndexSelect(table, 0, s.FromInt64s(index, table.Device(), most*most)) // [most*most, heads]
	bias := s.View(s.Transpose(rows, 0, 1), n.c.NumHeads, most, most)
	return s.Contiguous(bias)
}
