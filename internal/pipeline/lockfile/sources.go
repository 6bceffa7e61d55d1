package lockfile

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/listing"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
)

// Sources answers a pipeline's questions about sources before its keys are made.
type Sources struct {
	step.NoSources // but what is in lock files and on this machine

	// Lock is the pipeline's lock file.
	Lock  *File
	Asked func(path string) // is told of each local file that is asked for; may be nil

	file func(path string) ([]byte, error) // reads lock files
	path string                            // of the lock file, where lists are pinned; "": nowhere
	base string                            // folder that relative paths start from
	near *File                             // lock file there
	read map[string]*File
	memo string // file with the checksums of local files, by path

	mu        sync.Mutex
	checksums map[string]remembered
	rehash    bool
	fresh     map[string]bool // of checksums: hashed here, not saved
}

// remembered is a local file's checksum and the file's metadata when it was hashed: it is valid
// while these prove that the file has the same bytes.
type remembered struct {
	local.Seen
	Pin step.Pin `json:"pin"`
}

// Open reads the lock file and the cache; memo may be "" for none. A damaged cache is
// dropped. Relative paths of local files start from base.
func Open(lock, base, memo string) (*Sources, error) {
	s, err := OpenWith(os.ReadFile, lock, base, memo)
	if err == nil {
		s.path = lock
	}
	return s, err
}

// OpenWith is Open for lock files read with file, such as those of a commit. What patterns stand
// for must be pinned there.
func OpenWith(file func(path string) ([]byte, error), lock, base, memo string) (*Sources, error) {
	f, err := readWith(file, lock)
	if err != nil {
		return nil, err
	}
	return &Sources{Lock: f, file: file, near: f, read: map[string]*File{}, base: base, memo: memo, checksums: readMemo(memo), fresh: map[string]bool{}}, nil
}

// From makes relative paths of local files start from a module's folder, whose own lock file
// adds pins that the pipeline's lacks.
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

// Rehash makes LocalFile ignore the cache, or use it again.
func (s *Sources) Rehash(rehash bool) { s.rehash = rehash }

// abs is the absolute path of one that starts from the base.
func (s *Sources) abs(path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.base, path)
	}
	return filepath.Abs(path)
}

// LocalFile returns the checksum of a local file, hashing it unless the cache is valid for it.
// The pin's source is the absolute path.
func (s *Sources) LocalFile(ctx context.Context, path string) (step.Pin, error) {
	abs, err := s.abs(path)
	if err != nil {
		return step.Pin{}, err
	}
	if s.Asked != nil {
		s.Asked(abs)
	}
	now, err := local.StampOf(abs)
	if err != nil {
		return step.Pin{}, err
	}
	s.mu.Lock()
	r, ok := s.checksums[abs]
	s.mu.Unlock()
	if ok && !s.rehash && r.Proves(now) {
		return r.Pin, nil
	}
	report := step.Reporter(ctx)
	d, seen, err := local.HashFile(ctx, abs, func(done, total int64) {
		report(step.Progress{Done: done, Total: total, Unit: "bytes", Note: "hashing " + path})
	})
	if err != nil {
		return step.Pin{}, err
	}
	pin := step.Pin{Source: abs, SHA256: d, Size: seen.Size}
	s.mu.Lock()
	s.checksums[abs] = remembered{Seen: seen, Pin: pin}
	s.fresh[abs] = true
	s.mu.Unlock()
	return pin, nil
}

// LocalTree lists a folder, a file or the files that fit a pattern, and hashes those whose
// digests the cache does not have.
func (s *Sources) LocalTree(ctx context.Context, path string, ignore bool) (step.Folder, error) {
	abs, err := s.abs(path)
	if err != nil {
		return step.Folder{}, err
	}
	l, err := listing.Of(abs, ignore)
	if err != nil {
		return step.Folder{}, err
	}
	report := step.Reporter(ctx)
	var done atomic.Int64
	tree, err := l.Tree(step.WithReporter(ctx, func(step.Progress) {}), func(ctx context.Context, at string) (artifacts.Digest, int64, error) {
		pin, err := s.LocalFile(ctx, at)
		report(step.Progress{Done: done.Add(pin.Size), Total: l.Bytes, Unit: "bytes", Note: "hashing " + path})
		return pin.SHA256, pin.Size, err
	})
	return step.Folder{Source: abs, Root: l.Root, Tree: tree}, err
}

// Save writes the cache if something was added. Losing it costs only hashing.
func (s *Sources) Save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fresh) == 0 || s.memo == "" {
		return nil
	}
	return exclusively(s.memo, func() error {
		known := readMemo(s.memo) // what other processes have added since
		for path := range s.fresh {
			known[path] = s.checksums[path]
		}
		return atomicfile.WriteJSON(s.memo, known, "", 0o644)
	})
}

// Forget removes a local file, or those of a folder, from the cache: their bytes turned out to
// be different.
func Forget(memo, path string) error {
	return exclusively(memo, func() error {
		known := readMemo(memo)
		maps.DeleteFunc(known, func(at string, _ remembered) bool {
			return at == path || strings.HasPrefix(at, path+string(filepath.Separator))
		})
		return atomicfile.WriteJSON(memo, known, "", 0o644)
	})
}

func readMemo(memo string) map[string]remembered {
	known := map[string]remembered{}
	if b, err := os.ReadFile(memo); err == nil && values.Written(b, &known) != nil || known == nil {
		known = map[string]remembered{}
	}
	return known
}

// Base is the folder that relative paths start from.
func (s *Sources) Base() string { return s.base }
