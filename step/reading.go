package step

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/redsi/redsi/artifacts"
)

// Open reads a single-blob input. The bytes are verified; a mismatch is an error at the end of the read.
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

// Files lists an input's files: the files of a tree, with links to files and without empty folders, or the
// single blob under name.
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

// Path returns a verified, read-only local file with the bytes of d, for readers that need to seek or map
// it, or want the beginning only: a worker hashes it once, where Open would read to the end each time.
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

// first reports whether d is asked for by path for the first time: its bytes count once.
func (x *IO) first(d artifacts.Digest) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.given[d] {
		return false
	}
	x.given[d] = true
	return true
}

// Has reports whether a store has a blob.
func (x *IO) Has(ctx context.Context, d artifacts.Digest) (bool, error) {
	missing, err := x.host.Missing(ctx, []artifacts.Digest{d})
	return err == nil && len(missing) == 0, err
}

// source reads one input. Bytes are verified at their end, so that Close reads the rest if the step stops
// early: no step finishes on bytes that were not verified.
type source struct {
	x   *IO
	r   io.ReadCloser
	n   int64 // bytes read that moved has not counted
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

// saw keeps a failure of the store, which the step's own error, such as "not valid JSON", must not hide.
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
