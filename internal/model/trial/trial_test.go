package trial

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestMeasure: each unit of a model is measured, on the processors and on a card of software, with a
// rate and the memory at its peak.
func TestMeasure(t *testing.T) {
	tensor.SetNumThreads(1)
	testkit.None(t, fakecard.Install())
	t5 := rates.Shape{Name: "t5-small", Layers: 1, Width: 16, FF: 32, Heads: 1, Vocabulary: 32128}
	bert := rates.Shape{Name: rates.BERT, Layers: 1, Width: 16, FF: 32, Heads: 1, Vocabulary: 1000, Encoder: true}
	for _, c := range []struct {
		shape rates.Shape
		want  []string
	}{
		{t5, []string{"searches 0", "training searches 0", "trie searches 0", "updates 0", "rankings 1", "training rankings 1", "atomic updates 1",
			"rankings 100", "training rankings 100", "atomic updates 100"}},
		{bert, []string{"tokens 0"}},
	} {
		for _, card := range []bool{false, true} {
			all := testkit.Value(Measure(context.Background(), rates.Ask{Shape: c.shape, Card: card, Batch: 8, Documents: 100, Seconds: 0.001}))(t)
			var got []string
			for _, r := range all {
				got = append(got, strings.TrimSpace(fmt.Sprint(r.Identifiers, " ", r.Unit, " ", r.Documents)))
				if !(r.PerSecond > 0) || math.IsInf(r.PerSecond, 0) || r.Shape != c.shape.Name || r.Memory <= 0 && !card {
					t.Errorf("%+v", r)
				}
			}
			want := c.want
			if !card { // trainings evaluate as steps search
				want = slices.DeleteFunc(slices.Clone(want), func(s string) bool { return strings.HasPrefix(s, "training") })
			}
			testkit.Is(t, fmt.Sprint(got), fmt.Sprint(want), card, got)
		}
	}
}

// TestWhole: an update is as the last two measured go on, and never less than half as fast as the last one.
func TestWhole(t *testing.T) {
	for _, c := range []struct {
		found []point
		want  float64
	}{
		{[]point{{8, 2}}, 32},
		{[]point{{8, 2}, {32, 5}}, 5 + 96./8},         // one and an eighth for each
		{[]point{{8, 2}, {32, 2}}, 2 + 96*(2./32)/2},  // noise
		{[]point{{8, 1}, {32, 32}}, 32 + 96*(32./32)}, // noise
		{[]point{{8, 1}, {128, 9}}, 9},
	} {
		if got := timeFor(c.found, 128); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %g, want %g", c.found, got, c.want)
		}
	}
}
