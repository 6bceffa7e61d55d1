package step

import (
	"context"
	"io"

	"github.com/redsi/redsi/artifacts"
)

// Host is what an activity gives to a running step.
type Host interface {
	Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error)    // verified
	LocalPath(ctx context.Context, d artifacts.Digest) (string, error)      // verified file, read-only
	Put(ctx context.Context, r io.Reader) (artifacts.Digest, int64, error)  // streams
	Take(ctx context.Context, path string) (artifacts.Digest, int64, error) // Put of a file that is given away
	Missing(ctx context.Context, ds []artifacts.Digest) ([]artifacts.Digest, error)
	Report(p Progress)                                                   // never blocks
	Checkpoints(count func(name string, n int64)) Checkpoints            // filed under the step's key; what is passed over is counted
	Trajectory(most int64, count func(name string, n int64)) Checkpoints // filed under that of the step's task; nil: there is none
	Scratch() Scratch
}

// Scratch makes folders on this worker's disk. What they hold, and the programs
// that work in them, do not outlive a worker that is killed for longer than until
// the next one starts.
type Scratch interface {
	New() (dir string, err error)
	Discard(dir string) error
	Runs(dir string, pid int) error // a program works in dir and leads the process group pid
	Ended(dir string) error         // it has ended: so does what it left running
}

// Checkpoints keeps a step's intermediate state outside its result: it survives
// the worker, is found by any other one that runs the same key, and is
// collected once the step has a result.
type Checkpoints interface {
	// Put stores a file of the checkpoint that the next Save files. Its blob is of
	// this step alone, whatever r yields, and goes when it is of no use any more.
	Put(ctx context.Context, name string, r io.Reader) (artifacts.File, error)
	// Open returns what Put read.
	Open(ctx context.Context, f artifacts.File) (io.ReadCloser, error)
	// Save files the checkpoint, and removes those that are of no use any more.
	Save(ctx context.Context, n int64, files map[string]artifacts.File) error
	// Latest gives use the newest complete checkpoint and, as long as its error is an
	// Unfit one, the one before. What is passed over is reported and counted, and makes
	// room when the next one is saved; of a Beyond one nothing is said, and it stays.
	// ok is false if none was of use.
	Latest(ctx context.Context, use func(n int64, files map[string]artifacts.File) error) (ok bool, err error)
}
