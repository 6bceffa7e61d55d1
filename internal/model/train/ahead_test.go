package train

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
)

// TestTrainHearsLate: a learner that tells its losses later, as one on a card does, has the same
// curve, checkpoints and divergence as one that tells each at once.
func TestTrainHearsLate(t *testing.T) {
	keep := &shelf{folder: t.TempDir()}
	want := errtest.Value(Train(context.Background(), task(t, &sum{}, keep)))(t)
	for late := range 9 {
		there := &shelf{folder: t.TempDir()}
		k := task(t, &sum{late: late}, there)
		k.CheckpointEvery = 7
		got := errtest.Value(Train(context.Background(), k))(t)
		if history(got.Curve) != history(want.Curve) || !slices.Equal(there.steps, []int64{7, 14, 21, 28, 35, 40}) {
			t.Errorf("%d steps late: %s and checkpoints %v, want %s", late, history(got.Curve), there.steps, history(want.Curve))
		}
		there = &shelf{folder: t.TempDir()}
		bad := &sum{late: late, onStep: func(step int64) (float64, error) {
			if step == 22 {
				return math.NaN(), nil
			}
			return 0, nil
		}}
		var diverged *DivergedError
		if _, err := Train(context.Background(), task(t, bad, there)); !errors.As(err, &diverged) || diverged.Step != 23 || diverged.Kept != 20 || !strings.Contains(err.Error(), "step 20 is kept") {
			t.Errorf("%d steps late: %v", late, err)
		}
		if last := there.steps[len(there.steps)-1]; last != 20 {
			t.Errorf("%d steps late: a checkpoint of step %d", late, last)
		}
	}
}

// TestTrainIsCancelled: the last checkpoint is of the step where training was told to end; what is not known by then is asked for
// before it.
func TestTrainIsCancelled(t *testing.T) {
	whole := &sum{}
	want := errtest.Value(Train(context.Background(), task(t, whole, &shelf{folder: t.TempDir()})))(t)
	for _, late := range []int{0, 50} {
		ctx, cancel := context.WithCancel(context.Background())
		keep := &shelf{folder: t.TempDir()}
		first, second := &sum{late: late, onStep: func(step int64) (float64, error) {
			if step == 17 {
				cancel()
			}
			return 0, nil
		}}, &sum{}
		if _, err := Train(ctx, task(t, first, keep)); !errors.Is(err, context.Canceled) || len(first.losses) != 0 {
			t.Fatalf("%v, %d losses are not told", err, len(first.losses))
		}
		got := errtest.Value(Train(context.Background(), task(t, second, keep)))(t)
		if got.From != 18 || whole.Value != second.Value || history(got.Curve) != history(want.Curve) {
			t.Errorf("resumed at %d: %s, want %s", got.From, history(got.Curve), history(want.Curve))
		}
	}
}

// preparing is a learner that counts batches that are ready before their step.
type preparing struct {
	*sum
	prepared atomic.Int64
	most     int64
	fail     int64 // the step whose batch cannot be prepared; 0: none
}

func (p *preparing) Prepare(b *Batch) error {
	n := p.prepared.Add(1)
	b.Prepared = n
	if n == p.fail {
		return errors.New("no batch")
	}
	return nil
}

func (p *preparing) Step(ctx context.Context, b *Batch, step int64, rate float64) error {
	if b.Prepared != step+1 {
		return errors.New("another step's batch")
	}
	p.most = max(p.most, p.prepared.Load()-step)
	return p.sum.Step(ctx, b, step, rate)
}

// TestBatchesAhead: batches are made in another goroutine, in their order, not more than three at
// once, and none any more when training has ended.
func TestBatchesAhead(t *testing.T) {
	p := &preparing{sum: &sum{}}
	k := task(t, p.sum, &shelf{folder: t.TempDir()})
	k.Learner = p
	errtest.None(t, errtest.Of(Train(context.Background(), k)))
	if p.most > 3 || p.prepared.Load() != 40 {
		t.Errorf("%d batches made, %d ahead", p.prepared.Load(), p.most)
	}
	whole := &sum{}
	if _, err := Train(context.Background(), task(t, whole, &shelf{folder: t.TempDir()})); err != nil || whole.Value != p.Value {
		t.Errorf("%v: %d and %d", err, whole.Value, p.Value)
	}
	p = &preparing{sum: &sum{}, fail: 12}
	k = task(t, p.sum, &shelf{folder: t.TempDir()})
	k.Learner = p
	if _, err := Train(context.Background(), k); err == nil || err.Error() != "training step 12: no batch" {
		t.Errorf("error %v", err)
	}
	p = &preparing{sum: &sum{}}
	k = task(t, p.sum, &shelf{folder: t.TempDir()})
	k.Learner, k.Config.Patience = p, 1 // the second evaluation is better than the first, and so on to step 25
	out, err := Train(context.Background(), k)
	if err != nil || out.Steps != 30 {
		t.Fatalf("%+v, %v", out, err)
	}
	if n := p.prepared.Load(); n > 33 {
		t.Errorf("%d batches made for %d steps", n, out.Steps)
	}
}
