package step

import (
	"context"
	"errors"
	"io"

	"github.com/redsi/redsi/artifacts"
)

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
	// unchanged ones. With ignore, the rules of .gitignore files leave some out.
	LocalTree(ctx context.Context, path string, ignore bool) (Folder, error)
	// Program finds a program, the same one for a whole plan.
	Program(name string) (path string, err error)
	// Fingerprint tells two values of a secret apart without telling them, by a hash with a salt
	// that stays on this machine. Secrets are where each is found, by name.
	Fingerprint(secrets map[string]string) (string, error)
}

// NoSources knows of nothing. Sources that know a part embed it.
type NoSources struct{}

func (NoSources) Pinned(string) (p Pin, ok bool)                       { return p, false }
func (NoSources) Listed(context.Context, string) ([]string, error)     { return nil, errNotKnown }
func (NoSources) LocalFile(context.Context, string) (p Pin, err error) { return p, errNotKnown }
func (NoSources) LocalTree(context.Context, string, bool) (f Folder, err error) {
	return f, errNotKnown
}
func (NoSources) Program(string) (string, error)                { return "", errNotKnown }
func (NoSources) Fingerprint(map[string]string) (string, error) { return "", errNotKnown }

var errNotKnown = errors.New("it is not known here")

// Folder is what files of this machine are as a tree.
type Folder struct {
	Source string // absolute path, or pattern
	Root   string // folder that names of files start from
	Tree   artifacts.Artifact
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
