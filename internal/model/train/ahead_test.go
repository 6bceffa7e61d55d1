package train

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestTrainHearsLate: a learner that tells its losses later, as one on a card does, has the same
// curve, checkpoints and divergence as a learner that tells each at once.
func TestTrainHearsLate(t *testing.T) {
	want, _ := trained(t, task(t, &sum{}, nil))
	for late := range 9 {
		there := newShelf(t)
		k := task(t, &sum{late: late}, there)
		k.CheckpointEvery = 7
		if got, _ := trained(t, k); got != want || !slices.Equal(there.steps, []int64{7, 14, 21, 28, 35, 40}) {
			t.Errorf("%d steps late: %+v and checkpoints %v, want %+v", late, got, there.steps, want)
		}
		there = newShelf(t)
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
		testkit.Is(t, there.steps[len(there.steps)-1], 20, late)
	}
}

// TestTrainIsCancelled: the last checkpoint is of the step where training was told to end; what is not known by then is asked for
// before it.
func TestTrainIsCancelled(t *testing.T) {
	want, _ := trained(t, task(t, &sum{}, nil))
	for _, late := range []int{0, 50} {
		ctx, cancel := context.WithCancel(context.Background())
		keep := newShelf(t)
		first := &sum{late: late, onStep: func(step int64) (float64, error) {
			if step == 17 {
				cancel()
			}
			return 0, nil
		}}
		if _, err := Train(ctx, task(t, first, keep)); !errors.Is(err, context.Canceled) || len(first.losses) != 0 {
			t.Fatalf("%v, %d losses are not told", err, len(first.losses))
		}
		if got, out := trained(t, task(t, &sum{}, keep)); got != want || out.From != 18 {
			t.Errorf("resumed at %d: %+v, want %+v", out.From, got, want)
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
	train := func(p *preparing, patience int) (*Outcome, error) {
		p.sum = &sum{}
		k := task(t, p.sum, nil)
		k.Learner, k.Patience = p, patience
		return Train(context.Background(), k)
	}
	want, _ := trained(t, task(t, &sum{}, nil))
	p := &preparing{}
	if _, err := train(p, 0); err != nil || p.most > 3 || p.prepared.Load() != 40 || p.Value != want.value {
		t.Errorf("%v, %d batches made, %d ahead, %d, want %d", err, p.prepared.Load(), p.most, p.Value, want.value)
	}
	if _, err := train(&preparing{fail: 12}, 0); err == nil || err.Error() != "training step 12: no batch" {
		t.Errorf("error %v", err)
	}
	p = &preparing{}
	out, err := train(p, 1) // the second evaluation is better than the first, and so on to step 25
	if err != nil || out.Steps != 30 || p.prepared.Load() > 33 {
		t.Fatalf("%+v, %v, %d batches made", out, err, p.prepared.Load())
	}
}
