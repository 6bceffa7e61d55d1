package stepio

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/telemetry"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/step"
)

// Host gives a running step the store, and takes its progress.
type Host struct {
	Store     *artifacts.Resolver
	CacheDir  string // of verified local copies of remote blobs
	Areas     step.Scratch
	Log       *slog.Logger         // takes what is said about checkpoints
	Telemetry *telemetry.Telemetry // nil: none

	Key      artifacts.Digest  // of checkpoints
	Path     *artifacts.Digest // of the states of its trajectory; nil: none
	Progress func(step.Progress)
}

// Open reads a blob, verified.
func (h *Host) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	r, err := h.Store.Open(ctx, d)
	if err != nil || h.Telemetry == nil {
		return r, err
	}
	return readers.Closing(readers.Pieces(r, func(n int64) { h.Telemetry.Moved(n, 0) }), r), nil
}

// Put stores a blob.
func (h *Host) Put(ctx context.Context, r io.Reader) (artifacts.Digest, int64, error) {
	return h.written(local.Put(ctx, h.Store.Own.Blobs, r, h.CacheDir))
}

// Take stores a file that the step gives away.
func (h *Host) Take(ctx context.Context, path string) (artifacts.Digest, int64, error) {
	return h.written(local.Take(ctx, h.Store.Own.Blobs, path, h.CacheDir))
}

// written counts the bytes of a blob that was stored.
func (h *Host) written(d artifacts.Digest, n int64, err error) (artifacts.Digest, int64, error) {
	if err == nil {
		h.Telemetry.Moved(0, n)
	}
	return d, n, err
}

// Missing returns the blobs that no store has.
func (h *Host) Missing(ctx context.Context, ds []artifacts.Digest) ([]artifacts.Digest, error) {
	return h.Store.Missing(ctx, ds)
}

// LocalPath returns a verified local file of a blob.
func (h *Host) LocalPath(ctx context.Context, d artifacts.Digest) (string, error) {
	return local.Fetch(ctx, h.Store, d, h.CacheDir)
}

// Report takes the step's progress.
func (h *Host) Report(p step.Progress) { h.Progress(p) }

// Checkpoints returns the step's own checkpoints.
func (h *Host) Checkpoints(count func(string, int64)) step.Checkpoints {
	c := CheckpointsOf(h.Store.Own, h.Key, h.Log)
	c.count = count
	return c
}

// Trajectory returns the states of the step's task.
func (h *Host) Trajectory(most int64, count func(string, int64)) step.Checkpoints {
	if h.Path == nil {
		return nil
	}
	c := CheckpointsOf(h.Store.Own, *h.Path, h.Log)
	c.count, c.most = count, most
	return c
}

// Scratch returns the maker of folders for the step.
func (h *Host) Scratch() step.Scratch { return h.Areas }

// CheckpointsOf returns the checkpoints that the store has under a key; log, which may be nil, takes which are useless.
func CheckpointsOf(s artifacts.Store, key artifacts.Digest, log *slog.Logger) *Checkpoints {
	return &Checkpoints{records: s.Records, blobs: s.Blobs, key: key, log: log}
}

// Outcome is what a run of a kind left.
type Outcome struct {
	Outputs map[string]artifacts.Artifact `json:"outputs,omitempty"`
	Counts  map[string]int64              `json:"counts,omitempty"`
	Env     map[string]string             `json:"env,omitempty"` // what the step noted, and what computed it
	Kept    []artifacts.File              `json:"kept,omitempty"`
	Used    *artifacts.Used               `json:"used,omitempty"`
}

// Do runs a kind in this process. A panic, which is a bug in redsi, becomes an error. used, if any, ends measuring.
func Do(ctx context.Context, x *step.IO, spec *step.Spec, tree map[string]any, used func() *artifacts.Used) (o Outcome, err error) {
	err = Guard(func() error { return spec.Run(ctx, x, tree) })
	err = cmp.Or(err, ctx.Err())
	o.Outputs, o.Counts, err = x.Finish(err)
	o.Env, o.Kept = x.Notes(nil), x.Kept()
	var of *artifacts.Used
	if used != nil {
		of = used()
	}
	o.Used = x.Used(of)
	return o, err
}

// Guard turns a panic into an error.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			cause, ok := p.(error)
			if !ok {
				cause = fmt.Errorf("%v", p)
			}
			err = step.Permanent(fmt.Errorf("a bug in redsi: %w\n%s", cause, debug.Stack()))
		}
	}()
	return f()
}
