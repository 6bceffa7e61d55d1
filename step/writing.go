package step

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/redsi/redsi/artifacts"
)

// Create opens a single-blob output for writing. Close does not publish it: the step's result does, once
// Run has returned without error.
func (x *IO) Create(output string) (io.WriteCloser, error) { return x.CreateFile(output, "") }

// PutFile stores bytes as a file of no output; LinkFile adds it to a tree.
func (x *IO) PutFile(ctx context.Context, name string, r io.Reader) (artifacts.File, error) {
	d, n, err := x.host.Put(ctx, r)
	x.moved(0, n)
	return artifacts.File{Name: name, Digest: d, Size: n}, err
}

// Link makes an existing artifact, such as a part's output, an output of this step.
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
	x.outputs[output] = a
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

// TakeFile adds a file of a Scratch folder to a tree output. The caller gives the file away: it is moved
// into the store where the system can, and otherwise copied.
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

// Close ends the output and returns when the store has it.
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
		s.x.outputs[s.output] = artifacts.Artifact{Type: o.Type, Digest: s.digest, Size: s.size}
	})
	return s.err
}

// abort stops the outputs that are still open, and returns their names.
func (x *IO) abort(err error) (left []string) {
	x.mu.Lock()
	open := slices.Collect(maps.Keys(x.open))
	x.mu.Unlock()
	for _, s := range open {
		s.w.CloseWithError(err)
		<-s.done
		left = append(left, s.output)
	}
	return left
}

// settle returns the outputs of a run that left the given ones open.
func (x *IO) settle(left []string) (map[string]artifacts.Artifact, error) {
	if len(left) > 0 {
		return nil, Permanent(fmt.Errorf("kind %s left output %q open", x.spec.Name, left[0]))
	}
	for name, files := range x.trees {
		o, _ := x.spec.Output(name)
		a, err := artifacts.Tree(o.Type, files)
		if err != nil {
			return nil, Permanent(fmt.Errorf("kind %s, output %s: %w", x.spec.Name, name, err))
		}
		x.outputs[name] = a
	}
	for _, o := range x.spec.Outputs {
		if _, ok := x.outputs[o.Name]; !ok && !o.Optional {
			return nil, Permanent(fmt.Errorf("kind %s did not write its output %q", x.spec.Name, o.Name))
		}
	}
	return x.outputs, nil
}
