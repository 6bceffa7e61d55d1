package train

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// of is a task of so many steps whose states are kept on a shelf.
func of(t *testing.T, s *sum, steps int64, onward *shelf) Task {
	k := task(t, s, nil)
	k.Steps, k.Onward, k.Keep = steps, onward, true
	onward.most = steps
	return k
}

// TestLongerRunGoesOn: a run of more steps continues from the longest kept one that is not
// longer, whether its last step is evaluated in a longer run or not, to what it would be
// by itself. The metric is best at step 25, so the evaluation at the end of 24 steps would
// be a best one if a longer run took it over.
func TestLongerRunGoesOn(t *testing.T) {
	onward := newShelf(t)
	for _, c := range []struct{ steps, from int64 }{{3, 0}, {24, 3}, {20, 3}, {22, 20}, {40, 24}, {40, 40}, {60, 40}, {10, 3}} {
		want, _ := trained(t, of(t, &sum{}, c.steps, newShelf(t)))
		got, out := trained(t, of(t, &sum{}, c.steps, onward))
		if got != want || out.Onto != c.from || out.From != c.from || out.Steps != c.steps {
			t.Errorf("%d steps: went on at %d, process at %d, to %d: %+v; want %+v from %d", c.steps, out.Onto, out.From, out.Steps, got, want, c.from)
		}
	}
	if len(onward.passed) > 0 {
		t.Errorf("passed over: %v", onward.passed)
	}
}

// TestLongerRunIsKilled: killed after each step, a run that went on from another's state
// is what it would have been, and still knows where it went on from.
func TestLongerRunIsKilled(t *testing.T) {
	want, _ := trained(t, of(t, &sum{}, 40, newShelf(t)))
	for kill := int64(12); kill < 40; kill++ {
		onward := newShelf(t)
		trained(t, of(t, &sum{}, 12, onward))
		k := of(t, &sum{}, 40, onward)
		killed(t, k, kill)
		k.Learner, k.Folder = &sum{}, t.TempDir()
		if got, out := trained(t, k); got != want || out.Onto != 12 || out.From != max(12, kill/5*5) {
			t.Errorf("killed at %d: went on at %d and %d: %+v, want %+v", kill, out.Onto, out.From, got, want)
		}
	}
}

// TestPatience: the metric rises to step 25, so three evaluations later training ends; the
// curve says why. What was kept of a run without patience is not gone on from, and stays; one
// that patience ended is, by a run with more of it.
func TestPatience(t *testing.T) {
	onward := newShelf(t)
	train := func(steps int64, patience int) (*Outcome, string) {
		t.Helper()
		k := of(t, &sum{}, steps, onward)
		k.Patience = patience
		_, out := trained(t, k)
		return out, out.Curve.Stopped
	}
	if out, why := train(60, 3); out.Steps != 40 || out.Best.Step != 25 || why != "patience: 3 evaluations in a row with no better MRR@10 than at step 25" {
		t.Errorf("patience 3: %d steps, best %d, %q", out.Steps, out.Best.Step, why)
	}
	if out, why := train(60, 7); out.Steps != 60 || out.Onto != 40 || why != "" {
		t.Errorf("patience 7, which ends with the steps: %d steps from %d, %q", out.Steps, out.Onto, why)
	}
	if out, why := train(60, 2); out.Steps != 35 || out.Onto != 0 || !strings.HasPrefix(why, "patience: 2 ") {
		t.Errorf("patience 2: %d steps from %d, %q", out.Steps, out.Onto, why)
	}
	if out, _ := train(70, 0); out.Steps != 70 || out.Onto != 60 || len(onward.passed) > 0 {
		t.Errorf("no patience: %d steps from %d, passed over %v", out.Steps, out.Onto, onward.passed)
	}
	if out, why := train(35, 2); out.Steps != 35 || why != "" {
		t.Errorf("patience that ends at the last step: %d steps, %q", out.Steps, why)
	}
}

// TestPatienceResumes: killed after each step, a run ends where it would have.
func TestPatienceResumes(t *testing.T) {
	for kill := range int64(35) {
		k := task(t, &sum{}, nil)
		k.Steps, k.Patience, k.CheckpointEvery = 60, 2, 1
		killed(t, k, kill)
		k.Learner, k.Folder = &sum{}, t.TempDir()
		if _, out := trained(t, k); out.Steps != 35 || out.Best.Step != 25 || out.From != kill {
			t.Fatalf("killed at %d: %+v", kill, out)
		}
	}
}

// TestSchedules: transformers 4.44.1's get_*_schedule of 10 steps, without a warmup and with
// one of 3; at and beyond the end too.
func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		form   string
		warmup int64
		want   map[int64]float64
	}{
		{"", 0, map[int64]float64{0: 1, 9: 1}},
		{"", 4, map[int64]float64{0: 0, 1: 0.25, 2: 0.5, 3: 0.75, 4: 1, 5: 1}},
		{Constant, 3, map[int64]float64{0: 0, 1: 1. / 3, 3: 1, 9: 1}},
		{Linear, 0, map[int64]float64{0: 1, 1: 0.9, 9: 0.1, 10: 0, 12: 0}},
		{Linear, 3, map[int64]float64{2: 2. / 3, 3: 1, 4: 6. / 7, 9: 1. / 7}},
		{Linear, 10, map[int64]float64{9: 0.9, 10: 0}},
		{Cosine, 0, map[int64]float64{0: 1, 5: 0.5, 9: 0.5 * (1 + math.Cos(math.Pi*0.9)), 10: 0}},
		{Cosine, 3, map[int64]float64{1: 1. / 3, 3: 1, 6: 0.5 * (1 + math.Cos(math.Pi*3/7))}},
		{InverseSqrt, 0, map[int64]float64{0: 1, 9: 1 / math.Sqrt(1.0009)}},
		{InverseSqrt, 3, map[int64]float64{2: 2. / 3, 3: 1, 9: 1 / math.Sqrt(3)}},
	} {
		s := Schedule{Rate: 2, Warmup: c.warmup, Form: c.form, Steps: 10}
		for step, want := range c.want {
			if got := s.At(step); math.Abs(got-2*want) > 1e-15 {
				t.Errorf("%s, warmup %d, step %d: %v, want %v", c.form, c.warmup, step, got, 2*want)
			}
		}
	}
	for _, bad := range []Schedule{{}, {Rate: 1, Warmup: -1}, {Rate: 1, Form: "polynomial"}, {Rate: 1, Form: Linear}, {Rate: math.Inf(1)}} {
		k := task(t, &sum{}, nil)
		k.Schedule = bad
		testkit.Some(t, testkit.Err(Train(context.Background(), k)), bad)
	}
}
