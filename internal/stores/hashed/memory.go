package hashed

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/values"
)

// Memory has the digests of files by their absolute paths. Its zero value is empty, and remembers only in this
// process.
type Memory struct {
	file string

	mu      sync.Mutex
	digests map[string]remembered
	fresh   map[string]bool // paths that this process has hashed and not saved
}

// remembered is a file's digest, which counts while the proof holds.
type remembered struct {
	Proof
	SHA256 artifacts.Digest `json:"sha256"`
}

// Open reads the memory that is kept in a file; "" is none. A damaged file is an empty memory, since losing it
// costs only hashing.
func Open(file string) *Memory { return &Memory{file: file, digests: read(file)} }

func read(file string) map[string]remembered {
	digests := map[string]remembered{}
	if b, err := os.ReadFile(file); err != nil || values.Written(b, &digests) != nil || digests == nil {
		return map[string]remembered{}
	}
	return digests
}

// Digest returns the digest of the file at an absolute path. It reads the file only if nothing proves that it has
// the bytes of last time.
func (m *Memory) Digest(ctx context.Context, path string, progress func(done, total int64)) (artifacts.Digest, Proof, error) {
	now, err := StampOf(path)
	if err != nil {
		return artifacts.Digest{}, Proof{}, err
	}
	m.mu.Lock()
	r := m.digests[path]
	m.mu.Unlock()
	if !r.SHA256.IsZero() && r.Holds(now) {
		return r.SHA256, r.Proof, nil
	}
	return m.Hash(ctx, path, progress)
}

// Hash is Digest, but always reads the file.
func (m *Memory) Hash(ctx context.Context, path string, progress func(done, total int64)) (artifacts.Digest, Proof, error) {
	d, proof, err := Digest(ctx, path, progress)
	if err != nil {
		return d, proof, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.digests == nil {
		m.digests = map[string]remembered{}
	}
	if m.fresh == nil {
		m.fresh = map[string]bool{}
	}
	m.digests[path], m.fresh[path] = remembered{proof, d}, true
	return d, proof, nil
}

// Save adds what this process has hashed to the memory's file, which others may have changed since.
func (m *Memory) Save() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.fresh) == 0 || m.file == "" {
		return nil
	}
	return system.Exclusively(m.file, func() error {
		digests := read(m.file)
		for path := range m.fresh {
			digests[path] = m.digests[path]
		}
		return atomicfile.WriteJSON(m.file, digests, "", 0o644)
	})
}

// Forget removes a path, or the files below it, from the memory that is kept in a file, after their bytes turned
// out to be different.
func Forget(file, path string) error {
	return system.Exclusively(file, func() error {
		digests := read(file)
		maps.DeleteFunc(digests, func(at string, _ remembered) bool {
			return at == path || strings.HasPrefix(at, path+string(filepath.Separator))
		})
		return atomicfile.WriteJSON(file, digests, "", 0o644)
	})
}
