package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"os"
	"slices"
	"sort"
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
	Stderr  io.Writer         // takes what a program says beside its output; kept with the result, as Log is

	ctx   context.Context
	spec  *Spec
	host  Host
	parts []artifacts.Result

	mu      sync.Mutex // of what follows
	scratch []string

	given  map[artifacts.Digest]bool // files that were asked for by path
	failed error                     // of reading an input: lost, corrupt, or the store

	whole   map[string]artifacts.Artifact
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
	return &IO{Log: log, Stderr: io.Discard, ctx: ctx, spec: spec, host: host, parts: parts, given: map[artifacts.Digest]bool{}, whole: map[string]artifacts.Artifact{},
		trees: map[string][]artifacts.File{}, written: map[string]bool{}, open: map[*sink]bool{}, counts: map[string]int64{}, notes: map[string]string{}}
}

// Parts returns the results of the tasks that Split made, in its order.
func (x *IO) Parts() []artifacts.Result { return x.parts }

// Checkpoints returns the store of this step's intermediate state.
func (x *IO) Checkpoints() Checkpoints { return x.host.Checkpoints(x.Count) }

// Trajectory returns the store of states that steps keep for others which continue from there:
// those that differ from this one in what its kind's Trajectory names. Latest gives none
// further than most, and Save keeps the two that are furthest. They stay when the step has
// its result, until garbage collection. nil: the step goes a way of its own, or must make
// all that it says itself.
func (x *IO) Trajectory(most int64) Checkpoints { return x.host.Trajectory(most, x.Count) }

// Report says how far the step is.
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

// Runs says that the process pid leads the group of a program that works in a
// folder of Scratch; Ended, that it has ended, and ends what it left running.
func (x *IO) Runs(dir string, pid int) error { return x.host.Scratch().Runs(dir, pid) }

// Ended: see Runs.
func (x *IO) Ended(dir string) error { return x.host.Scratch().Ended(dir) }

// Finish ends a run: it stops what is still open, removes scratch folders and,
// if err is nil, returns the outputs and counts. A declared output that was
// never written, or one left open, is an error.
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

// Count adds to a number that is kept with the result and shown: records read,
// skipped by reason, documents written.
func (x *IO) Count(name string, n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.counts[name] += n
}

// Note keeps a word about how the step ran with the result, beside the worker's
// environment.
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

// Keep keeps a file of PutFile with the result, beside its outputs and in none: something
// for people of which the key has the digest.
func (x *IO) Keep(f artifacts.File) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.kept = append(x.kept, f)
}

// Kept is what Keep was given.
func (x *IO) Kept() []artifacts.File {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.kept
}

// Program says what a program that the step ran has used; memory 0 is not known. Of several
// programs the times add up.
func (x *IO) Program(cpu time.Duration, memory int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.used.CPU += cpu.Seconds()
	x.used.CPUOf = artifacts.CPUOfProgram
	if memory > x.used.Memory {
		x.used.Memory, x.used.MemoryOf = memory, artifacts.MemoryOfProgram
	}
}

// moved counts bytes that were read of inputs, and given to the store.
func (x *IO) moved(read, written int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.used.Read += read
	x.used.Written += written
}

// Used adds what the step itself knows that it has used to what was measured of its
// process, which may be nil. For a step that ran a program, the program's counts.
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

// Open reads a single-blob input; the bytes are verified, and a mismatch is an
// error at the end of the read.
func (x *IO) Open(in Input) (io.ReadCloser, error) {
	if in.Artifact == nil {
		return nil, Permanent(fmt.Errorf("kind %s reads an input that was not given", x.spec.Name))
	}
	if in.Artifact.Files != nil {
		return nil, Permanent(fmt.Errorf("kind %s reads a tree of %d files as one file", x.spec.Name, len(in.Artifact.Files)))
	}
	return x.read(in.Artifact.Digest)
}

// OpenFile reads one file of a tree.
func (x *IO) OpenFile(f artifacts.File) (io.ReadCloser, error) { return x.read(f.Digest) }

func (x *IO) read(d artifacts.Digest) (io.ReadCloser, error) {
	r, err := x.host.Open(x.ctx, d)
	if err != nil {
		return nil, err
	}
	return &source{x: x, r: r}, nil
}

// Files lists an input's files: those of a tree, with links to files as files and without
// empty folders, or the single blob under name.
func (x *IO) Files(in Input, name string) []artifacts.File {
	switch a := in.Artifact; {
	case a == nil:
		return nil
	case a.Files != nil:
		return a.Readable()
	default:
		return []artifacts.File{{Name: name, Digest: a.Digest, Size: a.Size}}
	}
}

// Path returns a verified, read-only local file with the bytes of d, for readers that
// need to seek or map, or want the beginning only: the whole is hashed once on a worker,
// where Open would go to the end each time.
func (x *IO) Path(d artifacts.Digest) (string, error) {
	path, err := x.host.LocalPath(x.ctx, d)
	if err != nil {
		return "", err
	}
	if s, err := os.Stat(path); err == nil && x.first(d) {
		x.moved(s.Size(), 0)
	}
	return path, nil
}

// first reports whether a file is asked for by path for the first time: it counts once.
func (x *IO) first(d artifacts.Digest) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.given[d] {
		return false
	}
	x.given[d] = true
	return true
}

// Has reports whether a store has a blob already.
func (x *IO) Has(ctx context.Context, d artifacts.Digest) (bool, error) {
	missing, err := x.host.Missing(ctx, []artifacts.Digest{d})
	return err == nil && len(missing) == 0, err
}

// source reads one input. Verification happens at the end of the bytes, so a
// reader that stops early is read to the end when it is closed: no step
// finishes on bytes that were not checked.
type source struct {
	x   *IO
	r   io.ReadCloser
	n   int64 // bytes read, as far as they were not told
	end bool
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.n += int64(n)
	if err != nil {
		s.saw(err)
	}
	return n, err
}

// saw keeps a failure of the store, so that what a step makes of it, such as
// "not valid JSON", does not hide it.
func (s *source) saw(err error) {
	s.end = true
	if !errors.Is(err, io.EOF) {
		s.x.mu.Lock()
		s.x.failed = err
		s.x.mu.Unlock()
	}
}

func (s *source) Close() error {
	if !s.end {
		n, err := io.Copy(io.Discard, s.r)
		s.n += n
		if err != nil {
			s.saw(err)
		}
	}
	s.x.moved(s.n, 0)
	s.n = 0
	return s.r.Close()
}

// Create opens a single-blob output for writing. Close publishes nothing by
// itself: the step's result does, once Run has returned without error.
func (x *IO) Create(output string) (io.WriteCloser, error) { return x.CreateFile(output, "") }

// PutFile stores bytes under no output; LinkFile makes them one of a tree's.
func (x *IO) PutFile(ctx context.Context, name string, r io.Reader) (artifacts.File, error) {
	d, n, err := x.host.Put(ctx, r)
	x.moved(0, n)
	return artifacts.File{Name: name, Digest: d, Size: n}, err
}

// Link makes an existing artifact, such as a part's output, an output of this
// step without copying it.
func (x *IO) Link(output string, a artifacts.Artifact) error {
	o, ok := x.spec.Output(output)
	if !ok || o.Tree != (a.Files != nil) {
		return Permanent(fmt.Errorf("kind %s has no output %q of that form", x.spec.Name, output))
	}
	a.Type = o.Type
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.written[output] {
		return Permanent(fmt.Errorf("kind %s writes its output %q twice", x.spec.Name, output))
	}
	x.written[output] = true
	x.whole[output] = a
	return nil
}

// LinkFile adds an existing blob to a tree output under the file's name.
func (x *IO) LinkFile(output string, f artifacts.File) error {
	if o, ok := x.spec.Output(output); !ok || !o.Tree {
		return Permanent(fmt.Errorf("kind %s has no tree output %q", x.spec.Name, output))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.trees[output] = append(x.trees[output], f)
	return nil
}

// TakeFile makes a file of a Scratch folder one of a tree output. The file is given away: it
// is moved into the store where the system can, and else copied.
func (x *IO) TakeFile(output, name, path string) error {
	f := artifacts.File{Name: name}
	if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
		f.Mode = artifacts.Executable
	}
	var err error
	if f.Digest, f.Size, err = x.host.Take(x.ctx, path); err != nil {
		return err
	}
	x.moved(0, f.Size)
	return x.LinkFile(output, f)
}

// CreateFile opens one file of a tree output.
func (x *IO) CreateFile(output, name string) (io.WriteCloser, error) {
	o, ok := x.spec.Output(output)
	if !ok || o.Tree != (name != "") {
		return nil, Permanent(fmt.Errorf("kind %s has no output %q of that form", x.spec.Name, output))
	}
	r, w := io.Pipe()
	s := &sink{x: x, output: output, name: name, w: w, done: make(chan struct{})}
	x.mu.Lock()
	if name == "" && x.written[output] {
		x.mu.Unlock()
		return nil, Permanent(fmt.Errorf("kind %s writes its output %q twice", x.spec.Name, output))
	}
	x.written[output] = true
	x.open[s] = true
	x.mu.Unlock()
	go func() {
		defer close(s.done)
		s.digest, s.size, s.err = x.host.Put(x.ctx, r)
		x.moved(0, s.size)
		r.CloseWithError(s.err) // a failed store fails the writer at once
	}()
	return s, nil
}

// sink streams one output into the host while the step writes it.
type sink struct {
	x            *IO
	output, name string
	w            *io.PipeWriter
	done         chan struct{}
	once         sync.Once
	digest       artifacts.Digest
	size         int64
	err          error
}

func (s *sink) Write(b []byte) (int, error) { return s.w.Write(b) }

// Close ends the output and waits until the store has it.
func (s *sink) Close() error {
	s.once.Do(func() {
		s.w.Close()
		<-s.done
		s.x.mu.Lock()
		defer s.x.mu.Unlock()
		delete(s.x.open, s)
		if s.err != nil {
			return
		}
		if s.name != "" {
			s.x.trees[s.output] = append(s.x.trees[s.output], artifacts.File{Name: s.name, Digest: s.digest, Size: s.size})
			return
		}
		o, _ := s.x.spec.Output(s.output)
		s.x.whole[s.output] = artifacts.Artifact{Type: o.Type, Digest: s.digest, Size: s.size}
	})
	return s.err
}

func (s *sink) abort(err error) {
	s.w.CloseWithError(err)
	<-s.done
	s.x.mu.Lock()
	delete(s.x.open, s)
	s.x.mu.Unlock()
}

// abort stops what is still open, and returns its outputs' names.
func (x *IO) abort(err error) (left []string) {
	x.mu.Lock()
	open := slices.Collect(maps.Keys(x.open))
	x.mu.Unlock()
	for _, s := range open {
		s.abort(err)
		left = append(left, s.output)
	}
	return left
}

// settle returns the outputs of a run, which left some open.
func (x *IO) settle(left []string) (map[string]artifacts.Artifact, error) {
	if len(left) > 0 {
		return nil, Permanent(fmt.Errorf("kind %s left output %q open", x.spec.Name, left[0]))
	}
	for name, files := range x.trees {
		sort.Slice(files, func(i, j int) bool { return files[i].Name < files[j].Name })
		o, _ := x.spec.Output(name)
		a, err := artifacts.Tree(o.Type, files)
		if err != nil {
			return nil, Permanent(fmt.Errorf("kind %s, output %s: %w", x.spec.Name, name, err))
		}
		x.whole[name] = a
	}
	for _, o := range x.spec.Outputs {
		if _, ok := x.whole[o.Name]; !ok && !o.Optional {
			return nil, Permanent(fmt.Errorf("kind %s did not write its output %q", x.spec.Name, o.Name))
		}
	}
	return x.whole, nil
}
