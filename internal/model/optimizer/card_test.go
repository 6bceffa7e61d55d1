//go:build linux

package optimizer

import (
	"testing"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
)

func TestMain(m *testing.M) { fakecard.Main(m) }

// TestStepOnCosts: what an update of T5-Efficient-Tiny and of T5-Base asks of a card does not grow with
// the model, waits for nothing, and takes the memory that StepOn says.
func TestStepOnCosts(t *testing.T) {
	tiny, base := t5.Defaults(), t5.Defaults()
	tiny.DModel, tiny.DFF, tiny.NumLayers, tiny.NumDecoderLayers, tiny.NumHeads = 256, 1024, 4, 4, 4
	base.DModel, base.DFF, base.NumLayers, base.NumDecoderLayers, base.NumHeads = 768, 3072, 12, 12, 12
	for name, c := range map[string]t5.Config{"tiny": tiny, "base": base} {
		t.Run(name, func(t *testing.T) {
			tensortest.Run(t, func(s *tensor.Scope) {
				size := func(shape []int64) int64 {
					n := int64(1)
					for _, d := range shape {
						n *= d
					}
					return n
				}
				largest := int64(0)
				for _, spec := range seq2seq.Specs(c) {
					largest = max(largest, size(spec.Shape))
				}
				pool := s.Full(0.01, tensor.F32, tensor.CUDA(0), largest) // shared: costs do not depend on values
				var params []checkpoint.Named
				var grads []*tensor.Tensor
				of := map[string][]int64{} // sizes by shape
				for _, spec := range seq2seq.Specs(c) {
					n := size(spec.Shape)
					p := s.View(s.Narrow(pool, 0, 0, n), spec.Shape...)
					params, grads = append(params, checkpoint.Named{Name: spec.Name, Tensor: p}), append(grads, p)
					of[p.String()] = append(of[p.String()], n)
				}
				class, stacked := int64(0), int64(0) // elements of the largest shape together, and of all shapes that several have
				for _, list := range of {
					n := int64(len(list)) * list[0]
					if class = max(class, n); len(list) > 1 {
						stacked += n
					}
				}
				a, rate := adafactorBy(AdafactorDefaults()).start(t, params), s.Full(1e-3, tensor.F32, tensor.CUDA(0), 1)
				a.StepOn(grads, rate, nil) // arranges the state
				n := fakecard.Count(func() { a.StepOn(grads, rate, nil) })
				if n.Launches > 130 || n.Uploads+n.Downloads+n.Syncs != 0 {
					t.Errorf("%d launches, %d uploads, %d downloads, %d waits", n.Launches, n.Uploads, n.Downloads, n.Syncs)
				}
				if bytes := 4*min(stacked, most) + 4*min(class, most); n.Peak > bytes+bytes/50 {
					t.Errorf("it takes %d bytes, want at most %d", n.Peak, bytes)
				}
			})
		})
	}
}
