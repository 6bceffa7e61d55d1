package bert

import (
	"math"

	"github.com/redsi/redsi/internal/model/tensor"
)

// hidden is added to the scores of keys after a text's end.
const hidden = -1e9

// onCard is one vector per text, [texts, hidden], computed on a card of one transfer: texts
// are padded to the longest, which are of like length.
func (m *Model) onCard(s *tensor.Scope, texts [][]int32, pooling Pooling) *tensor.Tensor {
	n, most := int64(len(texts)), int64(0)
	lengths := make([]int64, n)
	for i, text := range texts {
		lengths[i] = int64(len(text))
		most = max(most, lengths[i])
	}
	var ids, places []int64
	for _, text := range texts {
		ids, places = m.place(ids, places, text)
		for range most - int64(len(text)) { // no text sees what they are
			ids, places = append(ids, ids[len(ids)-1]), append(places, places[len(places)-1])
		}
	}
	arrays := [][]int64{ids, places, lengths}
	if m.relative != nil {
		arrays = append(arrays, m.buckets().Distances(most))
	}
	up := s.Upload(m.Device, arrays...)
	after := s.LessEqual(s.View(up[2], n, 1), s.Arange(most, m.Device)) // [texts, most]
	bias := s.View(s.MaskedFill(s.Zeros(tensor.F32, m.Device, n, most), after, hidden), n, 1, 1, most)
	if m.relative != nil {
		bias = s.Add(bias, s.RelativeBiasOf(m.relative, most, up[3])) // [texts, heads, most, most]
	}
	batch := func(s *tensor.Scope, t *tensor.Tensor) *tensor.Tensor { return s.View(t, n, most, -1) }
	heads := tensor.AttentionOptions{Heads: m.Config.Heads, Scale: m.scale()}
	x := m.encode(s, m.embed(s, up[0], up[1]), func(s *tensor.Scope, q, k, v *tensor.Tensor) *tensor.Tensor {
		return s.View(s.BatchAttention(batch(s, q), batch(s, k), batch(s, v), bias, heads), n*most, -1)
	})
	x, outside := batch(s, x), s.Unsqueeze(after, 2)
	switch pooling {
	case Mean:
		sum := s.SumDim(s.MaskedFill(x, outside, 0), 1, false)
		return s.Div(sum, s.ToDType(s.View(up[2], n, 1), tensor.F32))
	case Max:
		return s.MaxDim(s.MaskedFill(x, outside, math.Inf(-1)), 1, false)
	}
	return s.Select(x, 1, 0)
}
