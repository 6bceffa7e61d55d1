package tensor

import (
	"bytes"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestCopyAll: of any shapes, layouts and types at once.
func TestCopyAll(t *testing.T) {
	run(t, func(s *Scope) {
		rng := &RNG{Seed: 4}
		var to, from []*Tensor
		for _, types := range [][2]DType{{F16, F32}, {F32, F32}, {BF16, F32}, {F32, F16}, {BF16, BF16}} {
			for _, shape := range [][]int64{{3, 4}, {5}, {0, 2}, {}, {2, 3, 4}} {
				from = append(from, s.ToDType(s.Normal(rng, 0, 1, shape...), types[1]))
				to = append(to, s.Zeros(types[0], CPU, shape...))
			}
		}
		columns := s.Zeros(F16, CPU, 4, 3)
		from, to = append(from, s.Transpose(s.Normal(rng, 0, 1, 3, 4), 0, 1)), append(to, columns)
		s.CopyAll(to, from)
		s.CopyAll(nil, nil)
		for i := range to {
			if want := s.ToDType(from[i], to[i].DType()); !bytes.Equal(to[i].Bytes(), s.Contiguous(want).Bytes()) {
				t.Errorf("%s from %s differs", to[i], from[i])
			}
		}
		for want, f := range map[string]func(){
			"lists of 2 and 1 tensors":     func() { s.CopyAll(to[:2], from[:1]) },
			"tensor 1 has shape [5], what": func() { s.CopyAll(to[:2], []*Tensor{from[0], from[0]}) },
			"freed":                        func() { s.CopyAll([]*Tensor{{}}, from[:1]) },
		} {
			testkit.ErrSays(t, Try(f), want)
		}
	})
}
