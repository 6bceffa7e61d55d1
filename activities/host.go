package activities

import (
	"context"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/step"
)

// heartbeatEvery is well inside the workflows' heartbeat timeout. Progress is
// sent with each beat; the SDK thins out what comes faster.
const heartbeatEvery = time.Second

// host gives a running step the store, and its progress to Temporal.
type host struct {
	a    *Activities
	key  artifacts.Digest
	ctx  context.Context
	quit chan struct{}
	once sync.Once

	mu   sync.Mutex
	last step.Progress
}

func (a *Activities) newHost(ctx context.Context, key artifacts.Digest) *host {
	h := &host{a: a, key: key, ctx: ctx, quit: make(chan struct{})}
	if activity.IsActivity(ctx) {
		go h.beat()
	}
	return h
}

// beat sends heartbeats until the step ends, whether it reports progress or
// not: a silent step is alive as long as its process is.
func (h *host) beat() {
	t := time.NewTicker(heartbeatEvery)
	defer t.Stop()
	for {
		h.mu.Lock()
		p := h.last
		h.mu.Unlock()
		activity.RecordHeartbeat(h.ctx, p)
		select {
		case <-h.quit:
			return
		case <-h.ctx.Done():
			return
		case <-t.C:
		}
	}
}

func (h *host) stop() { h.once.Do(func() { close(h.quit) }) }

func (h *host) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	return h.a.Store.Blobs.Open(ctx, d)
}

func (h *host) Put(ctx context.Context, r io.Reader) (artifacts.Digest, int64, error) {
	return h.a.Store.Blobs.Put(ctx, r)
}

func (h *host) LocalPath(ctx context.Context, d artifacts.Digest) (string, error) {
	return artifacts.Fetch(ctx, h.a.Store.Blobs, d, h.a.CacheDir)
}

func (h *host) Report(p step.Progress) {
	h.mu.Lock()
	h.last = p
	h.mu.Unlock()
}

func (h *host) Checkpoints() step.Checkpoints {
	return h.a.checkpoints(h.key)
}

func stack() string { return string(debug.Stack()) }
