package step

import (
	"context"
	"errors"
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
	Checkpoints(count func(name string, n int64)) Checkpoints            // of the step's key; counts checkpoints that it passes over
	Trajectory(most int64, count func(name string, n int64)) Checkpoints // of the task's trajectory; nil: it has none
	Scratch() Scratch
}

// Scratch makes folders on this worker's disk. If the worker is killed, the next one that starts removes
// the folders and ends the programs that work in them.
type Scratch interface {
	New() (dir string, err error)
	Discard(dir string) error
	Runs(dir string, pid int) error // a program works in dir and leads the process group pid
	Ended(dir string) error         // the program has ended: what it left running is ended
}

// Checkpoints keeps a step's intermediate state outside its result. It survives the worker, is found by
// any worker that runs the same key, and is collected once the step has a result.
type Checkpoints interface {
	// Put stores a file of the checkpoint that the next Save files. Its blob is this step's only, whatever
	// r yields, and is removed when it is of no use any more.
	Put(ctx context.Context, name string, r io.Reader) (artifacts.File, error)
	// Open returns what Put read.
	Open(ctx context.Context, f artifacts.File) (io.ReadCloser, error)
	// Save files the checkpoint, and removes checkpoints that are of no use any more.
	Save(ctx context.Context, n int64, files map[string]artifacts.File) error
	// Latest calls use with the newest complete checkpoint and, while it returns an Unfit error, with the
	// checkpoint before. A checkpoint that is passed over is reported and counted, and makes room when the
	// next one is saved; after a Beyond error it stays, and nothing is said. ok is false if none was of use.
	Latest(ctx context.Context, use func(n int64, files map[string]artifacts.File) error) (ok bool, err error)
}

// Progress is how far a step is. Total 0 is unknown.
type Progress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"`
	Unit  string `json:"unit,omitempty"` // "bytes", "records", "steps"
	Note  string `json:"note,omitempty"` // what is being done, in a few words

	// LeftS is how many seconds are left, if the step, such as one that resumed, knows that better than
	// from the share that is done and the time since it began. 0: unknown.
	LeftS float64 `json:"left_s,omitempty"`

	Step string `json:"step,omitempty"` // its address, where its activity tells
}

type reporterKey struct{}

// WithReporter returns a context through which a callee can say how far it is. report must not block and
// may be called from several goroutines.
func WithReporter(ctx context.Context, report func(Progress)) context.Context {
	return context.WithValue(ctx, reporterKey{}, report)
}

// Reporter returns the function that WithReporter was given, or else a function that does nothing.
func Reporter(ctx context.Context) func(Progress) {
	if f, ok := ctx.Value(reporterKey{}).(func(Progress)); ok {
		return f
	}
	return func(Progress) {}
}

// Resources is what a step asks of the worker that runs it, and how often it is tried. It is in no key.
type Resources struct {
	CPUs   int           `json:"cpus,omitempty"`   // processors; 0: nothing was said
	Memory int64         `json:"memory,omitempty"` // bytes; 0: nothing was said
	GPUs   int           `json:"gpus,omitempty"`   // cards, all at once
	Time   time.Duration `json:"time,omitempty"`   // the longest that it may take, in nanoseconds; 0: no limit
	Limits []string      `json:"limits,omitempty"` // names that only so many steps of a run have at a time

	Tries int     `json:"tries,omitempty"` // further tries after its program has failed
	Grow  float64 `json:"grow,omitempty"`  // by which each try multiplies the memory; 0: not at all

	GrowTime float64 `json:"grow_time,omitempty"` // by which each try multiplies the time; 0: not at all

	At string `json:"at,omitempty"` // file and line to change
}

// For returns what the step asks for after so many failed tries; r may be nil.
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

// Granted returns what a step that asks for r is given, without cards.
func (r *Resources) Granted() Granted {
	of := r.For(0)
	return Granted{CPUs: of.CPUs, Memory: of.Memory}
}

// Granted is what a step was given of its machine, for the programs that it starts; zero where it asked for nothing.
type Granted struct {
	CPUs   int
	Memory int64  // bytes
	Cards  string // as CUDA_VISIBLE_DEVICES names them
}

// Pin is the checksum and size of a source.
type Pin struct {
	Source string           `json:"source"`
	SHA256 artifacts.Digest `json:"sha256"`
	Size   int64            `json:"size"`
}

// Sources is what Resolve may ask before a key exists.
type Sources interface {
	// Pinned returns the lock file's entry of a source.
	Pinned(source string) (Pin, bool)
	// Listed returns the sources that a pattern of a server stands for, as the lock file pins them.
	Listed(ctx context.Context, pattern string) ([]string, error)
	// LocalFile hashes a local file, and remembers its digest while the file is unchanged.
	LocalFile(ctx context.Context, path string) (Pin, error)
	// LocalTree lists and hashes a folder, a file or the files that match a pattern, as LocalFile does.
	// With ignore, the rules of .gitignore files leave some out. If nothing is there, the error is
	// fs.ErrNotExist, and Folder has its Source.
	LocalTree(ctx context.Context, path string, ignore bool) (Folder, error)
	// Program finds a program, the same file for all of a plan.
	Program(name string) (path string, err error)
}

// NoSources has no sources. Implementations of a part of Sources embed it.
type NoSources struct{}

func (NoSources) Pinned(string) (p Pin, ok bool)                       { return p, false }
func (NoSources) Listed(context.Context, string) ([]string, error)     { return nil, errNotKnown }
func (NoSources) LocalFile(context.Context, string) (p Pin, err error) { return p, errNotKnown }
func (NoSources) LocalTree(context.Context, string, bool) (f Folder, err error) {
	return f, errNotKnown
}
func (NoSources) Program(string) (string, error) { return "", errNotKnown }

var errNotKnown = errors.New("it is not known here")

// Folder is files of this machine as a tree.
type Folder struct {
	Source string // absolute path, or pattern
	Root   string // folder that names of files start from
	Tree   artifacts.Artifact
}

// CodeFiles are the files beside a step's pipeline file.
type CodeFiles interface {
	// Read returns a file by its name, relative to the folder; false if there is none.
	Read(name string) (text []byte, ok bool, err error)
	// List lists the files whose names match a pattern, sorted; hidden files only if the pattern says so.
	List(pattern string) ([]string, error)
	// Folder is where the files are on this machine; "" if they are not.
	Folder() string
	// Once calls make once for each id while the pipeline is loaded.
	Once(id string, make func() (any, error)) (any, error)
}

// Work is what a task does, in units whose pace can be measured on a machine, and what its result will
// count, as far as its configuration tells. It is for planning time, memory and disks: no key has it, and
// no result depends on it. A number that only another step's result has, such as the documents of a
// collection, is named by the input that is that result.
type Work struct {
	Does []Doing

	// Of the result, for the steps that read it:
	Counts      map[string]Amount // by the names of counts; BytesCount: its size
	Shape       string            // of a model: the name of a published model of the same sizes
	Like        Input             // of a model: or another model of the same sizes
	Identifiers string            // of identifiers: their type
}

// Names in Work's Counts: the size of all outputs, and the updates of a training, in proportion to which
// the times of other trainings are taken.
const (
	BytesCount   = "bytes"
	UpdatesCount = "updates"
)

// Unit is what work is measured in.
type Unit string

const (
	Updates     Unit = "updates"       // of a model, of 128 examples
	Searches    Unit = "searches"      // of a query, by 40 beams over the whole vocabulary
	Constrained Unit = "trie searches" // along the identifiers
	Rankings    Unit = "rankings"      // of a query's documents, each of which is one token
	Tokens      Unit = "tokens"        // that an encoder reads
	GzipBytes   Unit = "gzip bytes"    // of files of Natural Questions, extracted
)

// InTraining returns the unit of evaluations during a training if they have another precision there, as on a card.
func (u Unit) InTraining() Unit { return "training " + u }

type Doing struct {
	Unit        Unit
	Amount      Amount
	Model       Input // that does it; not set: none
	Identifiers Input // that it writes; not set: none
	Evaluates   bool  // it is an evaluation during a training
}

// Amount is a number that may depend on the result of another step.
type Amount struct {
	Times  float64
	Of     Inputs  // whose counts are added up and multiplied by Times; none: Times is the number
	Count  string  // the name of the count
	AtMost float64 // 0: no bound
}

// Exactly returns an amount that depends on nothing.
func Exactly(n float64) Amount { return Amount{Times: n} }
