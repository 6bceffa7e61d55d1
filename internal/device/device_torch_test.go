//go:build !notorch

package device

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/step"
)

// TestOf: a step is given a card where there is one, and computes on the processors where
// there is none; one that is not there is an error.
func TestOf(t *testing.T) {
	end := tensor.Emulate()
	defer end()
	p := NewPool(PoolOptions{Cards: []int{0}, Only: true})
	turn := p.Turn(nil)
	ctx := With(t.Context(), turn)
	for name, want := range map[string]tensor.Device{"cpu": tensor.CPU, "auto": tensor.CUDA(0), "cuda": tensor.CUDA(0), "cuda:0": tensor.CUDA(0)} {
		if d, err := Of(ctx, name); err != nil || d != want {
			t.Errorf("%s: %s, %v", name, d, err)
		}
	}
	turn.End()
	if p.busy[0] != 0 {
		t.Errorf("%d steps on it", p.busy[0])
	}
	if _, err := Of(ctx, "cuda:1"); err == nil || !step.IsPermanent(err) || !strings.Contains(err.Error(), "cuda:1") {
		t.Error(err)
	}
}
