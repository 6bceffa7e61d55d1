package step

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// IO is a step's view of the world. It is safe for concurrent use.
type IO struct {
	Log     *slog.Logger
	Secrets map[string]string // sensitive variables that this process was given, by name
	Cache   string            // a folder on this worker that outlives steps; may be emptied at any time
	Granted Granted           // what the step has of the machine, for programs
	Stderr  io.Writer         // of a program; kept with the result, as Log is

	ctx   context.Context
	spec  *Spec
	host  Host
	parts []artifacts.Result

	mu      sync.Mutex // of what follows
	scratch []string

	given  map[artifacts.Digest]bool // files that were asked for by path
	failed error                     // of reading an input: lost, corrupt, or the store

	outputs map[string]artifacts.Artifact // that are complete; trees once the run has ended
	trees   map[string][]artifacts.File
	written map[string]bool // outputs that are being written
	open    map[*sink]bool

	counts map[string]int64
	notes  map[string]string
	kept   []artifacts.File
	used   artifacts.Used // of the store, and of programs
}

// NewIO makes the IO of one run of a kind.
func NewIO(ctx context.Context, spec *Spec, host Host, log *slog.Logger, parts []artifacts.Result) *IO {
	return &IO{Log: log, Stderr: io.Discard, ctx: ctx, spec: spec, host: host, parts: parts, given: map[artifacts.Digest]bool{}, outputs: map[string]artifacts.Artifact{},
		trees: map[string][]artifacts.File{}, written: map[string]bool{}, open: map[*sink]bool{}, counts: map[string]int64{}, notes: map[string]string{}}
}

// Parts returns the results of the tasks that Split made, in its order.
func (x *IO) Parts() []artifacts.Result { return x.parts }

// Checkpoints returns the store of this step's intermediate state.
func (x *IO) Checkpoints() Checkpoints { return x.host.Checkpoints(x.Count) }

// Trajectory returns the store of states from which other steps may continue, if they differ from this
// step only in the attributes that its kind's Trajectory names. Latest gives no state further than most,
// and Save keeps the two furthest. States stay when the step has its result, until garbage collection.
// nil: the step shares its states with none, or must compute everything itself.
func (x *IO) Trajectory(most int64) Checkpoints { return x.host.Trajectory(most, x.Count) }

func (x *IO) Report(p Progress) { x.host.Report(p) }

// Scratch returns a new empty folder that is removed when the step ends.
func (x *IO) Scratch() (string, error) {
	d, err := x.host.Scratch().New()
	if err == nil {
		x.mu.Lock()
		x.scratch = append(x.scratch, d)
		x.mu.Unlock()
	}
	return d, err
}

// Runs notes that the process pid leads the group of a program that works in a folder of Scratch; Ended,
// that the program has ended, and ends what it left running.
func (x *IO) Runs(dir string, pid int) error { return x.host.Scratch().Runs(dir, pid) }
func (x *IO) Ended(dir string) error         { return x.host.Scratch().Ended(dir) }

// Finish ends a run: it stops outputs that are still open, removes scratch folders and, if err is nil,
// returns the outputs and counts. A declared output that was never written, or was left open, is an error.
func (x *IO) Finish(err error) (map[string]artifacts.Artifact, map[string]int64, error) {
	left := x.abort(errors.New("the step ended before the output was closed"))
	for _, d := range x.scratch {
		if e := x.host.Scratch().Discard(d); e != nil {
			x.Log.Warn("scratch folder left behind", "path", d, "err", e)
		}
	}
	if err = cmp.Or(x.failed, err); err != nil {
		return nil, nil, err
	}
	all, err := x.settle(left)
	return all, x.counts, err
}

// Count adds to a number that is kept with the result: records read, skipped by reason, documents written.
func (x *IO) Count(name string, n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.counts[name] += n
}

// Note keeps a text about how the step ran with the result, in its environment.
func (x *IO) Note(name, text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.notes[name] = text
}

// NotePrefix begins the names of notes among a result's environment.
const NotePrefix = "step: "

// Notes returns env with the notes of this run.
func (x *IO) Notes(env map[string]string) map[string]string {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := maps.Clone(env)
	for name, text := range x.notes {
		if all == nil {
			all = map[string]string{}
		}
		all[NotePrefix+name] = text
	}
	return all
}

// Keep keeps a file of PutFile with the result, beside its outputs: something for people of which the key
// has the digest.
func (x *IO) Keep(f artifacts.File) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.kept = append(x.kept, f)
}

// Kept returns the files that Keep was given.
func (x *IO) Kept() []artifacts.File {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.kept
}

// Program notes what a program of the step has used; memory 0 is unknown. The times of several programs add up.
func (x *IO) Program(cpu time.Duration, memory int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.used.CPU += cpu.Seconds()
	x.used.CPUOf = artifacts.CPUOfProgram
	if memory > x.used.Memory {
		x.used.Memory, x.used.MemoryOf = memory, artifacts.MemoryOfProgram
	}
}

// moved counts bytes that were read of inputs, and bytes that were given to the store.
func (x *IO) moved(read, written int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.used.Read += read
	x.used.Written += written
}

// Used completes what was measured of the step's process, which may be nil, by what the step has counted.
// If it ran a program, the program's processor time and memory count.
func (x *IO) Used(process *artifacts.Used) *artifacts.Used {
	x.mu.Lock()
	defer x.mu.Unlock()
	u := &artifacts.Used{}
	if process != nil {
		*u = *process
	}
	u.Read, u.Written = x.used.Read, x.used.Written
	if x.used.CPUOf != "" {
		u.CPU, u.CPUOf = math.Round(x.used.CPU*1e6)/1e6, x.used.CPUOf
		u.Memory, u.MemoryOf = x.used.Memory, x.used.MemoryOf
	}
	return u
}
