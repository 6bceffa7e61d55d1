package device

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestChoose: a step gets the card that it names; one that a worker does not have is an error
// that says which it has, unless it was told none. Without a card the processors compute.
func TestChoose(t *testing.T) {
	own := capacity.NewPool(capacity.Amount{}, capacity.Cards{Steps: []int{0, 1}, Only: true})
	_, _, _, err := Choose(t.Context(), own, "cuda:3", 4)
	if err == nil || !step.IsPermanent(err) || !strings.Contains(err.Error(), "computes only on cuda:0, cuda:1 (--gpus), and the step asks for cuda:3") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, room := range []*capacity.Pool{capacity.NewPool(capacity.Amount{}, capacity.Cards{}), nil} { // nil: outside a worker
		for name, want := range map[string]int{"cuda:3": 3, "cuda": 0, "auto": 0, "cpu": Processors, "": Processors} {
			card, _, give, err := Choose(t.Context(), room, name, 4)
			testkit.None(t, err)
			testkit.Is(t, card, want, "card", name)
			if room != nil && want != Processors { // it is busy, and whoever gives up takes no card with it
				if _, _, again, err := Choose(ctx, room, name, 4); !errors.Is(err, context.Canceled) || step.IsPermanent(err) {
					t.Errorf("%q: %v", name, err)
				} else {
					again()
				}
			}
			give()
		}
		if card, _, _, err := Choose(t.Context(), room, "auto", 0); card != Processors || err != nil {
			t.Error(card, err)
		}
	}
}

// TestVisible: a card has the name that it has for this process, if that sees some only.
func TestVisible(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	if got := Visible([]int{0, 2}); got != "0,2" || Count() != 0 {
		t.Error(got, Count())
	}
	t.Setenv("CUDA_VISIBLE_DEVICES", "3,GPU-5")
	testkit.Is(t, Visible([]int{0, 1}), "3,GPU-5")
}
