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

// Pin is what is known of a source's bytes.
type Pin struct {
	Source string           `json:"source"`
	SHA256 artifacts.Digest `json:"sha256"`
	Size   int64            `json:"size"`
}

// Sources is what Resolve may ask before a key exists.
type Sources interface {
	// Pinned returns what the lock file has for a source.
	Pinned(source string) (Pin, bool)
	// Listed says which sources a pattern of a server stands for, as the lock file pins them.
	Listed(ctx context.Context, pattern string) ([]string, error)
	// LocalFile hashes a local file, remembering unchanged ones.
	LocalFile(ctx context.Context, path string) (Pin, error)
	// LocalTree lists and hashes a folder, a file or the files that fit a pattern, remembering
	// unchanged ones. With ignore, the rules of .gitignore files leave some out. Where nothing
	// is there, the error is fs.ErrNotExist, and Folder has its Source.
	LocalTree(ctx context.Context, path string, ignore bool) (Folder, error)
	// Program finds a program, the same one for a whole plan.
	Program(name string) (path string, err error)
}

// NoSources knows of nothing. Sources that know a part embed it.
type NoSources struct{}

func (NoSources) Pinned(string) (p Pin, ok bool)                       { return p, false }
func (NoSources) Listed(context.Context, string) ([]string, error)     { return nil, errNotKnown }
func (NoSources) LocalFile(context.Context, string) (p Pin, err error) { return p, errNotKnown }
func (NoSources) LocalTree(context.Context, string, bool) (f Folder, err error) {
	return f, errNotKnown
}
func (NoSources) Program(string) (string, error) { return "", errNotKnown }

var errNotKnown = errors.New("it is not known here")

// Folder is what files of this machine are as a tree.
type Folder struct {
	Source string // absolute path, or pattern
	Root   string // folder that names of files start from
	Tree   artifacts.Artifact
}

// CodeFiles are the files beside the pipeline file that a step stands in.
type CodeFiles interface {
	// Read returns a file by its name, relative to the folder; false if there is none.
	Read(name string) (text []byte, ok bool, err error)
	// List lists the files whose names match a pattern, sorted; hidden ones only where the
	// pattern says so.
	List(pattern string) ([]string, error)
	// Folder is where they are on this machine; "" if that is not known.
	Folder() string
	// Once calls make once for an id while the pipeline is loaded.
	Once(id string, make func() (any, error)) (any, error)
}

// Work is what a task does in units whose pace a machine can be asked for, and what its result
// will count, as far as its configuration alone tells. It is for those who plan time, memory and
// disks: no key has it, and no result depends on it. What is not known before other steps have run,
// such as how many documents a collection has, is named by the input that will say it.
type Work struct {
	Does []Doing

	// What is said of the result, for those that read it.
	Counts      map[string]Amount // by the names of counts; BytesCount: how large it is
	Shape       string            // of a model: the name of a published one with the same sizes
	Like        Input             // or it is of this one's sizes
	Identifiers string            // of identifiers: their type
}

// Names in Work's Counts: the size of all outputs, and the updates of a training, by which times of
// results with other numbers of them are taken.
const (
	BytesCount   = "bytes"
	UpdatesCount = "updates"
)

// Unit is what work is measured in.
type Unit string

// The units.
const (
	Updates     Unit = "updates"       // of a model, of 128 examples
	Searches    Unit = "searches"      // of a query, by 40 beams over the whole vocabulary
	Constrained Unit = "trie searches" // along the identifiers
	Rankings    Unit = "rankings"      // of a query's documents, each of which is one token
	Tokens      Unit = "tokens"        // that an encoder reads
	GzipBytes   Unit = "gzip bytes"    // of files of Natural Questions, extracted
)

// InTraining is the unit of evaluations on the way of updates where those are of another precision, as on a card.
func (u Unit) InTraining() Unit { return "training " + u }

// Doing is a piece of work.
type Doing struct {
	Unit        Unit
	Amount      Amount
	Model       Input // that does it; not set: none
	Identifiers Input // that it writes; not set: none
	Evaluates   bool  // it is an evaluation on the way of updates
}

// Amount is a number that may depend on the result of another step.
type Amount struct {
	Times  float64
	Of     Inputs  // whose counts are added up; none: Times is the number
	Count  string  // which count of them
	AtMost float64 // 0: no bound
}

// Exactly is an amount that depends on nothing.
func Exactly(n float64) Amount { return Amount{Times: n} }
