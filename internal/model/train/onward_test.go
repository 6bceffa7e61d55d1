package train

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/errtest"
)

// of is a task of so many steps whose states are kept on a shelf.
func of(t *testing.T, s *sum, steps int64, onward *shelf) Task {
	k := task(t, s, &shelf{folder: t.TempDir()})
	k.Steps, k.Onward, k.Keep = steps, onward, true
	onward.most = steps
	return k
}

// model is what a run leaves.
func modelOf(t *testing.T, out *Outcome) string {
	t.Helper()
	data := goldens.Text(t, filepath.Join(out.Model, "model"))
	return string(data)
}

// TestLongerRunGoesOn: a run of more steps continues from the longest kept one that is not
// longer, whether its last step is evaluated in a longer run or not, to what it would be
// by itself. The metric is best at step 25, so the evaluation at the end of 24 steps would
// be a best one if a longer run took it over.
func TestLongerRunGoesOn(t *testing.T) {
	ctx := context.Background()
	alone := func(steps int64) (*sum, *Outcome) {
		s := &sum{}
		out := errtest.Value(Train(ctx, of(t, s, steps, &shelf{folder: t.TempDir()})))(t)
		return s, out
	}
	onward := &shelf{folder: t.TempDir()}
	for _, c := range []struct{ steps, from int64 }{{3, 0}, {24, 3}, {20, 3}, {22, 20}, {40, 24}, {40, 40}, {60, 40}, {10, 3}} {
		whole, want := alone(c.steps)
		s := &sum{}
		got := errtest.Value(Train(ctx, of(t, s, c.steps, onward)))(t)
		if got.Onto != c.from || got.From != c.from || got.Steps != c.steps {
			t.Errorf("%d steps: went on at %d, process at %d, to %d; want %d", c.steps, got.Onto, got.From, got.Steps, c.from)
		}
		if s.Value != whole.Value || history(got.Curve) != history(want.Curve) || modelOf(t, got) != modelOf(t, want) {
			t.Errorf("%d steps from %d: %s, want %s", c.steps, c.from, history(got.Curve), history(want.Curve))
		}
	}
	if len(onward.passed) > 0 {
		t.Errorf("passed over: %v", onward.passed)
	}
}

// TestLongerRunIsKilled: killed after each step, a run that went on from another's state
// is what it would have been, and still knows where it went on from.
func TestLongerRunIsKilled(t *testing.T) {
	ctx := context.Background()
	whole := &sum{}
	want := errtest.Value(Train(ctx, of(t, whole, 40, &shelf{folder: t.TempDir()})))(t)
	killed := errors.New("killed")
	for kill := int64(12); kill < 40; kill++ {
		onward := &shelf{folder: t.TempDir()}
		errtest.None(t, errtest.Of(Train(ctx, of(t, &sum{}, 12, onward))))
		first := of(t, &sum{onStep: func(step int64) (float64, error) {
			if step == kill {
				return 0, killed
			}
			return 0, nil
		}}, 40, onward)
		if _, err := Train(ctx, first); !errors.Is(err, killed) {
			t.Fatal(err)
		}
		s := &sum{}
		second := of(t, s, 40, onward)
		second.Checkpoints = first.Checkpoints
		got := errtest.Value(Train(ctx, second))(t)
		if s.Value != whole.Value || history(got.Curve) != history(want.Curve) || got.Onto != 12 || got.From != max(12, kill/5*5) {
			t.Errorf("killed at %d: went on at %d and %d: %s", kill, got.Onto, got.From, history(got.Curve))
		}
	}
}

// TestPatience: the metric rises to step 25, so three evaluations later training ends; the
// curve says why. What was kept of a run without patience is not gone on from, and stays; one
// that patience ended is, by a run with more of it.
func TestPatience(t *testing.T) {
	ctx := context.Background()
	onward := &shelf{folder: t.TempDir()}
	train := func(steps int64, patience int) (*Outcome, string) {
		t.Helper()
		k := of(t, &sum{}, steps, onward)
		k.Patience = patience
		out := errtest.Value(Train(ctx, k))(t)
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
	killed := errors.New("killed")
	for kill := range int64(35) {
		keep := &shelf{folder: t.TempDir()}
		k := task(t, &sum{onStep: func(step int64) (float64, error) {
			if step == kill {
				return 0, killed
			}
			return 0, nil
		}}, keep)
		k.Steps, k.Patience, k.CheckpointEvery = 60, 2, 1
		if _, err := Train(context.Background(), k); !errors.Is(err, killed) {
			t.Fatal(err)
		}
		k.Learner, k.Folder = &sum{}, t.TempDir()
		out, err := Train(context.Background(), k)
		if err != nil || out.Steps != 35 || out.Best.Step != 25 || out.From != kill {
			t.Fatalf("killed at %d: %+v, %v", kill, out, err)
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
		k := task(t, &sum{}, &shelf{folder: t.TempDir()})
		k.Schedule = bad
		if _, err := Train(context.Background(), k); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}
