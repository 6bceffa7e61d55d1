package train

import "context"

// prepared is a batch that is ready, or why it is not.
type prepared struct {
	*Batch
	err error
}

// ahead prepares the batches of the remaining steps, in their order, in another goroutine: while a step is running, one
// batch lies ready and the next one is in preparation. The channel closes after the last one, or when ctx ends. stop
// must be called.
func (r *run) ahead(ctx context.Context) (batches <-chan prepared, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan prepared, 1)
	first, last := r.state.Step, r.Steps
	go func() {
		defer close(out)
		for step := first; step < last && ctx.Err() == nil; step++ {
			b := NewBatch(r.Data, r.sampler.Batch(step))
			select {
			case out <- prepared{b, r.Learner.Prepare(b)}:
			case <-ctx.Done():
			}
		}
	}()
	return out, func() {
		cancel()
		for range out { // until it is closed: the sampler is free again
		}
	}
}
