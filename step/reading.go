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
	return x.OpenFile(artifacts.File{Digest: in.Artifact.Digest})
}

// OpenFile reads one file of a tree.
func (x *IO) OpenFile(f artifacts.File) (io.ReadCloser, error) {
	r, err := x.host.Open(x.ctx, f.Digest)
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
	s, err := os.Stat(path)
	x.mu.Lock()
	defer x.mu.Unlock()
	if err == nil && !x.given[d] { // its bytes count once
		x.given[d] = true
		x.used.Read += s.Size()
	}
	return path, nil
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
	s.end = s.end || err != nil
	if err != nil && !errors.Is(err, io.EOF) { // the step's own error, such as "not valid JSON", must not hide it
		s.x.mu.Lock()
		s.x.failed = err
		s.x.mu.Unlock()
	}
	return n, err
}

func (s *source) Close() error {
	if !s.end {
		_, _ = io.Copy(io.Discard, s) // Read keeps the error
	}
	s.x.moved(s.n, 0)
	s.n = 0
	return s.r.Close()
}
