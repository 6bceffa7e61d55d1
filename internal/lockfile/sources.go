package lockfile

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/atomicfile"
	"github.com/redsi/redsi/step"
)

// Sources answers a pipeline's questions about sources before its keys are made.
type Sources struct {
	// Lock is the pipeline's lock file.
	Lock *File

	file func(path string) ([]byte, error) // reads lock files
	base string                            // folder that relative paths start from
	near *File                             // lock file there
	read map[string]*File
	memo string // file with the checksums of local files, by path

	mu    sync.Mutex
	known map[string]remembered
	again bool
	fresh map[string]bool // of known: hashed by us, not saved
}

// remembered is a local file's checksum with what the file looked like when it was
// hashed: it counts while that proves that the file has the same bytes.
type remembered struct {
	artifacts.Seen
	Pin step.Pin `json:"pin"`
}

// Open reads the lock file and the memory; memo may be "" for none. A damaged
// memory is forgotten. Relative paths of local files start from base.
func Open(lock, base, memo string) (*Sources, error) {
	return OpenWith(os.ReadFile, lock, base, memo)
}

// OpenWith is Open of lock files that are read by file: those of a commit, say.
func OpenWith(file func(path string) ([]byte, error), lock, base, memo string) (*Sources, error) {
	f, err := readWith(file, lock)
	if err != nil {
		return nil, err
	}
	return &Sources{Lock: f, file: file, near: f, read: map[string]*File{}, base: base, memo: memo, known: readMemo(memo), fresh: map[string]bool{}}, nil
}

// From makes relative paths of local files start from another folder, that of a
// module, whose own lock file has pins that the pipeline's has not.
func (s *Sources) From(base string) (err error) {
	s.base = base
	if s.near = s.read[base]; s.near == nil {
		s.near, err = readWith(s.file, filepath.Join(base, Name))
		s.read[base] = s.near
	}
	return err
}

// Pinned returns what the lock file has for a source.
func (s *Sources) Pinned(source string) (step.Pin, bool) {
	if p, ok := s.Lock.Pinned(source); ok {
		return p, true
	}
	return s.near.Pinned(source)
}

// HashAgain makes LocalFile believe the memory no more, or again.
func (s *Sources) HashAgain(again bool) { s.again = again }

// LocalFile returns the checksum of a local file, hashing it unless the memory
// proves what it has. The pin's source is the absolute path.
func (s *Sources) LocalFile(ctx context.Context, path string) (step.Pin, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.base, path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return step.Pin{}, err
	}
	now, err := artifacts.StampOf(abs)
	if err != nil {
		return step.Pin{}, err
	}
	s.mu.Lock()
	r, ok := s.known[abs]
	s.mu.Unlock()
	if ok && !s.again && r.Proves(now) {
		return r.Pin, nil
	}
	report := step.Reporter(ctx)
	d, seen, err := artifacts.HashFile(ctx, abs, func(done, total int64) {
		report(step.Progress{Done: done, Total: total, Unit: "bytes", Note: "hashing " + path})
	})
	if err != nil {
		return step.Pin{}, err
	}
	pin := step.Pin{Source: abs, SHA256: d, Size: seen.Size}
	s.mu.Lock()
	s.known[abs] = remembered{Seen: seen, Pin: pin}
	s.fresh[abs] = true
	s.mu.Unlock()
	return pin, nil
}

// Save writes the memory if something was added to it. Losing it costs hashing.
func (s *Sources) Save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fresh) == 0 || s.memo == "" {
		return nil
	}
	return exclusively(s.memo, func() error {
		known := readMemo(s.memo) // what other processes have added since
		for path := range s.fresh {
			known[path] = s.known[path]
		}
		return writeMemo(s.memo, known)
	})
}

// Forget removes a local file from the memory: somebody read other bytes than it
// has there.
func Forget(memo, path string) error {
	return exclusively(memo, func() error {
		known := readMemo(memo)
		if _, ok := known[path]; !ok {
			return nil
		}
		delete(known, path)
		return writeMemo(memo, known)
	})
}

func readMemo(memo string) map[string]remembered {
	known := map[string]remembered{}
	if b, err := os.ReadFile(memo); err == nil && json.Unmarshal(b, &known) != nil || known == nil {
		known = map[string]remembered{}
	}
	return known
}

func writeMemo(memo string, known map[string]remembered) error {
	b, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(memo, b, 0o644)
}

// Base is the folder that relative paths start from.
func (s *Sources) Base() string { return s.base }
