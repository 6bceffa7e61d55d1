package lockfile

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/redsi/redsi/internal/step"
)

// Sources answers a pipeline's questions about sources before its keys are made.
type Sources struct {
	lock *File
	base string // folder that relative paths start from
	memo string // file with the checksums of local files by path, size and mtime

	mu    sync.Mutex
	known map[string]remembered
	dirty bool
}

type remembered struct {
	Size  int64    `json:"size"`
	MTime int64    `json:"mtime_ns"`
	Pin   step.Pin `json:"pin"`
}

// Open reads the lock file and the memory; memo may be "" for none. A damaged
// memory is forgotten. Relative paths of local files start from base.
func Open(lock, base, memo string) (*Sources, error) {
	f, err := Read(lock)
	if err != nil {
		return nil, err
	}
	s := &Sources{lock: f, base: base, memo: memo, known: map[string]remembered{}}
	if b, err := os.ReadFile(memo); err == nil {
		if json.Unmarshal(b, &s.known) != nil {
			s.known = map[string]remembered{}
		}
	}
	return s, nil
}

// Pinned returns what the lock file has for a source.
func (s *Sources) Pinned(source string) (step.Pin, bool) { return s.lock.Pinned(source) }

// LocalFile returns the checksum of a local file, hashing it unless a file of
// the same path, size and modification time was hashed before. The pin's source
// is the absolute path.
func (s *Sources) LocalFile(ctx context.Context, path string) (step.Pin, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.base, path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return step.Pin{}, err
	}
	info, err := os.Stat(abs)
	if err != nil {
		return step.Pin{}, err
	}
	if !info.Mode().IsRegular() {
		return step.Pin{}, fmt.Errorf("%s is not a regular file", path)
	}
	s.mu.Lock()
	r, ok := s.known[abs]
	s.mu.Unlock()
	if ok && r.Size == info.Size() && r.MTime == info.ModTime().UnixNano() {
		return r.Pin, nil
	}
	pin, err := hashFile(ctx, abs)
	if err != nil {
		return step.Pin{}, err
	}
	s.mu.Lock()
	s.known[abs] = remembered{Size: info.Size(), MTime: info.ModTime().UnixNano(), Pin: pin}
	s.dirty = true
	s.mu.Unlock()
	return pin, nil
}

func hashFile(ctx context.Context, path string) (step.Pin, error) {
	f, err := os.Open(path)
	if err != nil {
		return step.Pin{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return step.Pin{}, err
	}
	h := sha256.New()
	report, progress := step.Reporter(ctx), step.Progress{Total: info.Size(), Unit: "bytes", Note: "hashing " + path}
	n, err := io.Copy(h, readerFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := f.Read(b)
		progress.Done += int64(n)
		report(progress)
		return n, err
	}))
	p := step.Pin{Source: path, Size: n}
	h.Sum(p.SHA256[:0])
	return p, err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// Save writes the memory if something was added to it. Losing it costs hashing.
func (s *Sources) Save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dirty || s.memo == "" {
		return nil
	}
	b, err := json.Marshal(s.known)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.memo), 0o755); err != nil {
		return err
	}
	return writeFile(s.memo, b)
}
