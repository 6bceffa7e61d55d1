package step

import (
	"context"
	"io"
	"time"

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

// Progress is how far a step is; Total 0 means unknown.
type Progress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"`
	Unit  string `json:"unit,omitempty"` // "bytes", "records", "steps"
	Note  string `json:"note,omitempty"` // what is being done, in a few words

	// LeftS is how many seconds are left where the step knows better than the share
	// done of the time since: one that resumed, say. 0: not known.
	LeftS float64 `json:"left_s,omitempty"`

	// Step is the address of the step, where its activity tells it.
	Step string `json:"step,omitempty"`
}

type reporterKey struct{}

// WithReporter returns a context by which what is called can say how far it is.
// The function must not block and may be called from several goroutines.
func WithReporter(ctx context.Context, report func(Progress)) context.Context {
	return context.WithValue(ctx, reporterKey{}, report)
}

// Reporter returns the function that WithReporter was given, or one that does nothing.
func Reporter(ctx context.Context) func(Progress) {
	if f, ok := ctx.Value(reporterKey{}).(func(Progress)); ok {
		return f
	}
	return func(Progress) {}
}

// Resources is what a step asks of the worker that runs it, and how often it is tried.
// None of it is in a key.
type Resources struct {
	CPUs   int           `json:"cpus,omitempty"`   // processors; 0: nothing was said
	Memory int64         `json:"memory,omitempty"` // bytes; 0: nothing was said
	GPUs   int           `json:"gpus,omitempty"`   // cards, all at once
	Time   time.Duration `json:"time,omitempty"`   // the longest that it may take, in nanoseconds; 0: no limit
	Limits []string      `json:"limits,omitempty"` // names of which a run has only so many at a time

	Tries int     `json:"tries,omitempty"` // further ones after its program has failed
	Grow  float64 `json:"grow,omitempty"`  // times as much memory at each of them; 0: as much

	GrowTime float64 `json:"grow_time,omitempty"` // times as long at each of them; 0: as long

	At string `json:"at,omitempty"` // file and line to change
}

// For is what the step asks for after so many tries that failed; r may be nil.
func (r *Resources) For(failed int) Resources {
	if r == nil {
		return Resources{}
	}
	of := *r
	for range failed {
		if grown := float64(of.Memory) * r.Grow; r.Grow > 1 && grown < 1<<62 {
			of.Memory = int64(grown)
		}
		if grown := float64(of.Time) * r.GrowTime; r.GrowTime > 1 && grown < 1<<62 {
			of.Time = time.Duration(grown)
		}
	}
	return of
}

// Granted is what a step that asks for it is given, but for cards.
func (r *Resources) Granted() Granted {
	of := r.For(0)
	return Granted{CPUs: of.CPUs, Memory: of.Memory}
}

// Granted is what a step was given of the machine that it runs on, for the programs that it
// starts: nothing is said where it asked for nothing.
type Granted struct {
	CPUs   int
	Memory int64  // bytes
	Cards  string // as CUDA_VISIBLE_DEVICES names them
}
