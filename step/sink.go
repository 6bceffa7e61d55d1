package step

import (
	"fmt"
	"io"
	"sync"

	"github.com/redsi/redsi/artifacts"
)

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

func (x *IO) create(output, name string) (io.WriteCloser, error) {
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
		s.x.outputs[s.output] = artifacts.Artifact{Type: o.Type, Digest: s.digest, Size: s.size}
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
