//go:build linux

package fakecard_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestMain(m *testing.M) { fakecard.Main(m) }

func run(t *testing.T, f func(*tensor.Scope)) {
	t.Helper()
	testkit.None(t, tensor.Run(f))
}

// TestMixed: what a card refuses is refused, in libtorch's words where it looks by itself.
func TestMixed(t *testing.T) {
	for name, f := range map[string]func(s *tensor.Scope, card, cpu *tensor.Tensor){
		"aten::mm":  func(s *tensor.Scope, card, cpu *tensor.Tensor) { s.MatMul(card, cpu) },
		"aten::add": func(s *tensor.Scope, card, cpu *tensor.Tensor) { s.Add(card, cpu) },
		"aten::index_select": func(s *tensor.Scope, card, cpu *tensor.Tensor) {
			s.IndexSelect(card, 0, s.FromInt64s([]int64{1}, tensor.CPU, 1))
		},
		"aten::cat": func(s *tensor.Scope, card, cpu *tensor.Tensor) { s.Cat(0, card, cpu) },
	} {
		err := tensor.Run(func(s *tensor.Scope) {
			f(s, s.Zeros(tensor.F32, tensor.CUDA(0), 2, 2), s.Zeros(tensor.F32, tensor.CPU, 2, 2))
		})
		ours := name + ": argument"
		if err == nil || !strings.Contains(err.Error(), ours) && !strings.Contains(err.Error(), "found at least two devices") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCount: launches, transfers and waits, whichever thread they come from.
func TestCount(t *testing.T) {
	run(t, func(s *tensor.Scope) {
		var x *tensor.Tensor
		up := fakecard.Count(func() { x = s.FromFloat32s(make([]float32, 12), tensor.CUDA(0), 3, 4) })
		if up.Uploads != 1 || up.UploadBytes != 48 || up.Launches != 0 || up.Syncs != 0 || up.Downloads != 0 {
			t.Errorf("an upload: %+v", up)
		}
		s.Leaf(x)
		work := fakecard.Count(func() {
			y := s.Mul(s.Transpose(x, 0, 1), s.Transpose(x, 0, 1))
			s.Gradients(s.Sum(y), []*tensor.Tensor{x})
		})
		if work.Operators["mul"] < 3 || work.Operators["sum"] < 1 || work.Syncs != 0 || work.Operators["transpose"] != 0 {
			t.Errorf("work: %+v", work)
		}
		at, n := []int64{0}, []int64{3}
		attend := fakecard.Count(func() { // queries and keys are two tensors, without a layout
			spans := tensor.Spans{QStart: at, QLen: n, KStart: at, KLen: n}
			s.PackedAttention(x, s.Alias(x), x, nil, spans, tensor.AttentionOptions{Heads: 1, Scale: 1})
		})
		if attend.Uploads != 1 || attend.Syncs != 0 || attend.Downloads != 0 {
			t.Errorf("attention: %+v", attend)
		}
		down := fakecard.Count(func() { x.Float32s() })
		testkit.That(t, down.Downloads == 1 && down.DownloadBytes == 48 && down.Syncs == 0, "a download", down)
	})
	emptied(t) // else what libtorch's thread gives back of the backward pass while f runs is taken off f's peak
	run(t, func(s *tensor.Scope) {
		c := fakecard.Count(func() {
			ids := s.Upload(tensor.CUDA(0), []int64{3, 1}, []int64{2})
			if got := ids[0].Int64s(); got[0] != 3 || got[1] != 1 {
				t.Errorf("uploaded %v", got)
			}
			s.Sum(ids[0]).Item()
		})
		if c.Uploads != 1 || c.Downloads != 1 || c.Syncs != 1 || c.Peak < 24 || c.Peak > 1024 {
			t.Errorf("counted as %+v", c)
		}
	})
	emptied(t)
	if _, most, ok := tensor.CardMemory(0); !ok || most < 24 {
		t.Errorf("memory: %d at most, %v", most, ok)
	}
}

// emptied waits until nothing is on the card: libtorch's own thread gives back the tensors of a backward pass, and may
// be late.
func emptied(t *testing.T) {
	t.Helper()
	for begun := time.Now(); ; runtime.Gosched() {
		now, _, ok := tensor.CardMemory(0)
		if ok && now == 0 {
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("%d bytes are still on the card (%v)", now, ok)
		}
	}
}

// TestLaunches: operators on lists are as many kernels as CUDA makes of them, and what it has one kernel for is one.
func TestLaunches(t *testing.T) {
	run(t, func(s *tensor.Scope) {
		card := tensor.CUDA(0)
		of := func(n int, t *tensor.Tensor) []*tensor.Tensor { return slices.Repeat([]*tensor.Tensor{t}, n) }
		row, x, y := s.Zeros(tensor.F32, card, 3), s.Zeros(tensor.F32, card, 2, 3), s.Zeros(tensor.F32, card, 2, 3)
		wide, double := s.Zeros(tensor.F32, card, 3, 2), s.Zeros(tensor.F64, card, 1, 3)
		for _, c := range []struct {
			name string
			want map[string]int64
			f    func()
		}{
			{"cat of 128", map[string]int64{"cat": 1}, func() { s.Cat(0, of(128, x)...) }},
			{"cat of 129", map[string]int64{"cat": 2}, func() { s.Cat(0, of(129, x)...) }},
			{"cat of 64 that are not contiguous", map[string]int64{"cat": 1}, func() { s.Cat(0, of(64, s.Transpose(wide, 0, 1))...) }},
			{"cat of 65 that are not contiguous", map[string]int64{"cat": 2}, func() { s.Cat(0, of(65, s.Transpose(wide, 0, 1))...) }},
			{"cat of two types", map[string]int64{"cat": 3}, func() { s.Cat(0, append(of(2, x), double)...) }},
			{"copies of 65", map[string]int64{"_foreach_copy_": 2}, func() { s.CopyAll(of(65, x), of(65, y)) }},
			{"a norm", map[string]int64{"_fused_rms_norm": 1}, func() { s.RMSNorm(x, row, 1e-6) }},
		} {
			got := fakecard.Count(c.f).Operators
			testkit.Deep(t, got, c.want, c.name)
		}
	})
}

// TestFresh: memory is not zeros.
func TestFresh(t *testing.T) {
	run(t, func(s *tensor.Scope) {
		for _, v := range s.Empty(tensor.F32, tensor.CUDA(0), 100).Float32s() {
			if v == v {
				t.Fatalf("fresh memory has %v", v)
			}
		}
	})
}
