package activities

import (
	"context"
	"io"
	"runtime/debug"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/step"
)

// host gives a running step the store, and takes its progress.
type host struct {
	a      *Activities
	key    artifacts.Digest
	report func(step.Progress)
}

func (a *Activities) newHost(ctx context.Context, key artifacts.Digest) *host {
	return &host{a: a, key: key, report: step.Reporter(ctx)}
}

func (h *host) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	return h.a.Store.Blobs.Open(ctx, d)
}

func (h *host) Put(ctx context.Context, r io.Reader) (artifacts.Digest, int64, error) {
	return h.a.Store.Blobs.Put(ctx, r)
}

func (h *host) LocalPath(ctx context.Context, d artifacts.Digest) (string, error) {
	return artifacts.Fetch(ctx, h.a.Store.Blobs, d, h.a.CacheDir)
}

func (h *host) Report(p step.Progress) { h.report(p) }

func (h *host) Checkpoints(count func(string, int64)) step.Checkpoints {
	c := h.a.checkpoints(h.key)
	c.count = count
	return c
}

func (h *host) Scratch() step.Scratch { return h.a.Scratch }

func stack() string { return string(debug.Stack()) }
