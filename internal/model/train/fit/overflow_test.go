//go:build linux

package fit

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestCardEndsByScale: training whose loss scale has fallen below 1 ends as diverged, as does one that goes on from a
// checkpoint of such, which is read.
func TestCardEndsByScale(t *testing.T) {
	l, folder := learnerAt(t, without(toy()), tensor.F16), t.TempDir()
	l.scaler.Scale = 0x1p-20
	testkit.None(t, errors.Join(l.Save(folder), l.Load(folder)))
	k := t5Task(t, l, &shelf{folder: t.TempDir()})
	k.Steps, k.EvaluateEvery, k.CheckpointEvery = 10, 10, 10
	var diverged *train.DivergedError
	if _, err := train.Train(context.Background(), k); !errors.As(err, &diverged) || !strings.Contains(err.Error(), "the loss scale is 9.5367e-07") {
		t.Errorf("%v", err)
	}
}

// TestCardWideProducts: products of a feed-forward layer beyond 65504 are numbers in fp16 as in float32, and so are their
// gradients.
func TestCardWideProducts(t *testing.T) {
	losses := map[tensor.DType]train.Loss{}
	for _, compute := range []tensor.DType{tensor.F32, tensor.F16} {
		func() {
			m := modelOn(t, without(toy()), tensor.CUDA(0))
			tensortest.Run(t, func(s *tensor.Scope) {
				tensor.NoGrad(func() {
					for _, p := range m.Params {
						if strings.HasSuffix(p.Name, "DenseReluDense.wo.weight") || strings.HasSuffix(p.Name, "Attention.o.weight") {
							s.ScaleInPlace(p.Tensor, 30000)
						}
					}
				})
			})
			l := learnerOn(t, m, compute)
			losses[compute] = lossesFrom(t, l, 0, 1)[0]
			testkit.Is(t, l.Skipped(), 0, compute)
		}()
	}
	got, want := losses[tensor.F16], losses[tensor.F32]
	if got.Left || got.Gradients || math.Abs(got.Value-want.Value) > 1e-2*want.Value {
		t.Errorf("%+v in fp16, %+v in float32", got, want)
	}
}
