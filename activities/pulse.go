package activities

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/step"
)

// heartbeatEvery is well inside the workflows' heartbeat timeout. Progress is
// sent with each beat; the SDK thins out what comes faster.
const heartbeatEvery = time.Second

// attempt is what every activity is: until it returns it sends heartbeats, the
// first after heartbeatEvery, so that the server soon misses a worker that is gone
// (it counts from the activity's start: what is shorter needs none); a panic in it,
// our own bug, is an error; and errors leave it as failure makes them.
func attempt[T any](ctx context.Context, a *Activities, do func(context.Context) (T, error)) (T, error) {
	p := &pulse{ctx: ctx, quit: make(chan struct{})}
	var beats sync.WaitGroup
	if activity.IsActivity(ctx) {
		var before beat
		_ = activity.GetHeartbeatDetails(ctx, &before) // there may be none, or one of another version
		p.failed.Store(before.Failed)
		beats.Go(p.beat)
	}
	ctx = context.WithValue(ctx, failedKey{}, &p.failed)
	defer func() {
		close(p.quit)
		beats.Wait() // no heartbeat of this attempt comes after its end
		if activity.IsActivity(ctx) && p.failed.Load() > 0 {
			p.record() // the SDK sends it before the error
		}
	}()
	var out T
	err := stepio.Guard(func() (err error) {
		out, err = do(step.WithReporter(ctx, p.report))
		return err
	})
	return out, a.failure(ctx, err)
}

// pulse shows that an activity is alive, and how far it is.
type pulse struct {
	ctx  context.Context
	quit chan struct{}

	failed atomic.Int32 // attempts so far

	mu   sync.Mutex
	last *step.Progress // what the next beat says; nil: nothing
}

// beat is what a heartbeat says: to who looks, how far the step is; to the attempt after this one,
// how many have failed.
type beat struct {
	*step.Progress
	Failed int32 `json:"failed,omitempty"`
}

// beat sends heartbeats until the activity ends, whether it reports progress or
// not: a silent one is alive as long as its process is.
func (p *pulse) beat() {
	t := time.NewTicker(heartbeatEvery)
	defer t.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-p.ctx.Done():
			return
		case <-t.C:
		}
		p.record()
	}
}

func (p *pulse) record() {
	p.mu.Lock()
	last := p.last
	p.mu.Unlock()
	activity.RecordHeartbeat(p.ctx, beat{last, p.failed.Load()})
}

// report sets what the next beat says.
func (p *pulse) report(x step.Progress) {
	x.Note = bounded(x.Note, maxNote)
	p.mu.Lock()
	p.last = &x
	p.mu.Unlock()
}
