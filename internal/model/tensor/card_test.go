package tensor

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor/cudalib"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestCard: one or the other: cards, or a reason that every refusal repeats.
func TestCard(t *testing.T) {
	c := Card()
	if c.Loaded == (c.Reason != "") || c.Loaded != (CUDADevices() > 0) || c.Cards != CUDADevices() {
		t.Errorf("%+v, with %d cards", c, CUDADevices())
	}
	auto, err := ParseDevice("auto")
	testkit.None(t, err, "auto is", auto)
	testkit.Is(t, auto.IsCUDA(), c.Loaded, "auto is", auto)
	if _, err := ParseDevice("cuda"); !c.Loaded && (err == nil || !strings.Contains(err.Error(), c.Reason)) {
		t.Errorf("%v does not say %q", err, c.Reason)
	}
	if _, err := ParseDevice("cuda:99"); c.Loaded && (err == nil || !strings.Contains(err.Error(), "CUDA_VISIBLE_DEVICES")) {
		t.Errorf("%v", err)
	}
}

// TestCardGraphs: a library of graphs that does not load is a reason, and takes nothing else of a card away.
func TestCardGraphs(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "libredsi_graphs.so")
	testkit.Write(t, broken, "no library")
	s := withGraphs(cudalib.State{Loaded: true, Cards: 2, Graphs: broken})
	if !s.Loaded || s.Cards != 2 || s.Reason != "" || s.Graphs != "" || !strings.Contains(s.GraphsReason, "does not load: "+broken) {
		t.Errorf("%+v", s)
	}
	if s := withGraphs(cudalib.State{Loaded: true, GraphsReason: "none is there"}); s.GraphsReason != "none is there" {
		t.Errorf("%+v", s)
	}
	if c := Card(); !c.Loaded && c.Graphs+c.GraphsReason != "" {
		t.Errorf("without a card: %+v", c)
	}
}

// TestCardMemory: without a card nothing is told; with one, no more is there than the most.
func TestCardMemory(t *testing.T) {
	for card := range CUDADevices() + 1 {
		now, most, ok := CardMemory(card)
		switch {
		case ok != (card < CUDADevices()):
			t.Errorf("known: %v, of card %d of %d", ok, card, CUDADevices())
		case !ok && now+most != 0, now > most:
			t.Errorf("%d bytes now, %d at most", now, most)
		}
	}
}

// TestCardFree: nothing is told of the CPU, nor of a card that is none.
func TestCardFree(t *testing.T) {
	if free, total, ok := CardFree(CPU); ok || free+total != 0 {
		t.Errorf("the CPU has %d of %d", free, total)
	}
	if CUDADevices() > 0 {
		return
	}
	if _, _, ok := CardFree(CUDA(0)); ok {
		t.Error("a card that is not there has memory")
	}
}
