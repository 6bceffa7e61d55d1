//go:build linux

package fakecard_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestGraph: nothing happens while a graph is recorded; a replay computes, backward too, with what is in the
// same memory, and draws what the generator has next.
func TestGraph(t *testing.T) {
	card := tensor.CUDA(0)
	run(t, func(s *tensor.Scope) {
		x, w := s.FromFloat32s([]float32{1, 2, 3, 4, 5, 6}, card, 2, 3), s.FromFloat32s([]float32{1, -1, 2}, card, 1, 3)
		rows := s.FromInt64s([]int64{1, 0, 1}, card, 3)
		got := s.Zeros(tensor.F32, card, 1, 3)
		step := func() { // got += the gradient of w, with some of it left out
			tensor.Within(func(s *tensor.Scope) {
				s.Leaf(w)
				y := s.Linear(s.IndexSelect(x, 0, rows), w)
				g := s.Gradients(s.Sum(s.Mul(y, y)), []*tensor.Tensor{w})
				tensor.NoGrad(func() { s.AddInPlace(got, s.Dropout(g[0], 0.5, &tensor.RNG{})) })
			})
		}
		seed := func(n uint64) { tensor.SeedDevice(card, &tensor.RNG{Seed: n}) }
		want := func(n uint64) []float32 {
			seed(n)
			s.FillInPlace(got, 0)
			step()
			values := got.Float32s()
			s.FillInPlace(got, 0)
			return values
		}
		first := want(1)
		seed(1)
		g := testkit.Value(tensor.Record(card, nil, step))(t)
		defer g.Free()
		if v := got.Float32s(); !slices.Equal(v, []float32{0, 0, 0}) {
			t.Fatalf("recorded, and it is %v", v)
		}
		g.Replay()
		if v := got.Float32s(); !slices.Equal(v, first) {
			t.Fatalf("replayed %v, want %v", v, first)
		}
		for n := range uint64(5) {
			s.CopyInPlace(x, s.FromFloat32s([]float32{float32(n), 1, 0, 2, 7, -3}, card, 2, 3))
			s.CopyInPlace(rows, s.FromInt64s([]int64{int64(n % 2), 0, 0}, card, 3))
			expected := want(n)
			seed(n)
			g.Replay()
			if v := got.Float32s(); !slices.Equal(v, expected) {
				t.Fatalf("batch %d: %v, want %v", n, v, expected)
			}
		}
		c := fakecard.Count(g.Replay)
		testkit.Is(t, c.Uploads+c.Downloads+c.Syncs, 0, "a replay", c)
	})
}

// TestNotRecorded: what CUDA refuses while it records is refused, and the card goes on as if nothing had been.
func TestNotRecorded(t *testing.T) {
	card := tensor.CUDA(0)
	run(t, func(s *tensor.Scope) {
		x := s.FromFloat32s([]float32{1, 2}, card, 2)
		for name, f := range map[string]func(s *tensor.Scope){
			"read":     func(s *tensor.Scope) { x.Float32s() },
			"item":     func(s *tensor.Scope) { s.Sum(x).Item() },
			"upload":   func(s *tensor.Scope) { s.Upload(card, []int64{1}) },
			"seed":     func(s *tensor.Scope) { tensor.SeedDevice(card, &tensor.RNG{}) },
			"shape":    func(s *tensor.Scope) { s.Add(x, s.Zeros(tensor.F32, card, 3)) },
			"in graph": func(s *tensor.Scope) { _, err := tensor.Record(card, nil, func() {}); check(err) },
		} {
			g, err := tensor.Record(card, nil, func() {
				tensor.Within(func(s *tensor.Scope) {
					s.ScaleInPlace(x, 2)
					f(s)
				})
			})
			if g != nil || err == nil || name != "shape" && !strings.Contains(err.Error(), "captur") && name != "in graph" {
				t.Errorf("%s: %v", name, err)
			}
			if v := x.Float32s(); v[0] != 1 || v[1] != 2 {
				t.Fatalf("after %s: %v", name, v)
			}
		}
	})
}

func check(err error) {
	if err != nil {
		tensor.Failf("check", "%v", err)
	}
}
