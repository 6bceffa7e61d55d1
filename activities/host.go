package activities

import (
	"context"
	"io"
	"runtime/debug"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/telemetry"
	"github.com/redsi/redsi/step"
)

// host gives a running step the store, and takes its progress.
type host struct {
	a      *Activities
	key    artifacts.Digest
	report func(step.Progress)

	trajectory *artifacts.Digest // of the task; nil: none
}

func (a *Activities) newHost(ctx context.Context, key artifacts.Digest) *host {
	return &host{a: a, key: key, report: step.Reporter(ctx)}
}

func (h *host) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	r, err := h.a.Store.Blobs.Open(ctx, d)
	if err != nil || h.a.Telemetry == nil {
		return r, err
	}
	return &counted{ReadCloser: r, t: h.a.Telemetry}, nil
}

// counted tells how many bytes were read, at their end or when it is closed.
type counted struct {
	io.ReadCloser
	t *telemetry.Telemetry
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	if err != nil {
		c.tell()
	}
	return n, err
}

func (c *counted) Close() error {
	c.tell()
	return c.ReadCloser.Close()
}

func (c *counted) tell() {
	c.t.Moved(c.n, 0)
	c.n = 0
}

func (h *host) Put(ctx context.Context, r io.Reader) (artifacts.Digest, int64, error) {
	d, n, err := h.a.Store.Blobs.Put(ctx, r)
	if err == nil {
		h.a.Telemetry.Moved(0, n)
	}
	return d, n, err
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

func (h *host) Trajectory(most int64, count func(string, int64)) step.Checkpoints {
	if h.trajectory == nil {
		return nil
	}
	c := h.a.checkpoints(*h.trajectory)
	c.count, c.most = count, most
	return c
}

func (h *host) Scratch() step.Scratch { return h.a.Scratch }

func stack() string { return string(debug.Stack()) }
