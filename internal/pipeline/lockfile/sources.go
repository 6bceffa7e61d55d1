package lockfile

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/listing"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/step"
)

// Sources answers a pipeline's questions about sources before its keys are made.
type Sources struct {
	step.NoSources // but what is in lock files and on this machine

	// Lock is the pipeline's lock file.
	Lock  *File
	Asked func(path string) // is told of each local file that is asked for; may be nil

	file   func(path string) ([]byte, error) // reads lock files
	path   string                            // of the lock file, where lists are pinned; "": nowhere
	base   string                            // folder that relative paths start from
	near   *File                             // lock file there
	read   map[string]*File
	files  *hashed.Memory // local files
	rehash bool
	asked  map[string]step.Pin // of files by their whole paths: programs, for which thousands of steps ask
}

// Open reads the lock file and the memory of local files that is kept in memo; "" is none. Relative paths of local files start from base.
func Open(lock, base, memo string) (*Sources, error) {
	s, err := OpenWith(os.ReadFile, lock, base, memo)
	if err == nil {
		s.path = lock
	}
	return s, err
}

// OpenWith is Open for lock files read with file, such as a commit's: these must pin what patterns stand for.
func OpenWith(file func(path string) ([]byte, error), lock, base, memo string) (*Sources, error) {
	f, err := readWith(file, lock)
	if err != nil {
		return nil, err
	}
	return &Sources{Lock: f, file: file, near: f, read: map[string]*File{}, base: base, files: hashed.Open(memo), asked: map[string]step.Pin{}}, nil
}

// From has relative paths start from a module's folder, whose own lock file adds pins that the pipeline's lacks.
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

// Rehash makes LocalFile read files whatever is remembered of them, or not any more.
func (s *Sources) Rehash(rehash bool) { s.rehash = rehash }

// abs is the absolute path of one that starts from the base.
func (s *Sources) abs(path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.base, path)
	}
	return filepath.Abs(path)
}

// LocalFile is the checksum of a local file, hashed unless remembered, with the absolute path as source. It looks at a file
// named by that once in a plan.
func (s *Sources) LocalFile(ctx context.Context, path string) (step.Pin, error) {
	if pin, ok := s.asked[path]; ok && !s.rehash {
		return pin, nil
	}
	pin, err := s.localFile(ctx, path)
	if err == nil && path == pin.Source {
		s.asked[path] = pin
	}
	return pin, err
}

func (s *Sources) localFile(ctx context.Context, path string) (step.Pin, error) {
	abs, err := s.abs(path)
	if err != nil {
		return step.Pin{}, err
	}
	if s.Asked != nil {
		s.Asked(abs)
	}
	digest := s.files.Digest
	if s.rehash {
		digest = s.files.Hash
	}
	report := step.Reporter(ctx)
	d, proof, err := digest(ctx, abs, func(done, total int64) {
		report(step.Progress{Done: done, Total: total, Unit: "bytes", Note: "hashing " + path})
	})
	if err != nil {
		return step.Pin{}, err
	}
	return step.Pin{Source: abs, SHA256: d, Size: proof.Size}, nil
}

// LocalTree lists a folder, a file or the files that fit a pattern, and hashes files that are not remembered.
func (s *Sources) LocalTree(ctx context.Context, path string, ignore bool) (step.Folder, error) {
	abs, err := s.abs(path)
	if err != nil {
		return step.Folder{}, err
	}
	l, err := listing.Of(abs, ignore)
	if err != nil {
		return step.Folder{Source: abs}, err
	}
	report := step.Reporter(ctx)
	var done atomic.Int64
	tree, err := l.Tree(step.WithReporter(ctx, func(step.Progress) {}), func(ctx context.Context, at string) (artifacts.Digest, int64, error) {
		pin, err := s.localFile(ctx, at)
		report(step.Progress{Done: done.Add(pin.Size), Total: l.Bytes, Unit: "bytes", Note: "hashing " + path})
		return pin.SHA256, pin.Size, err
	})
	return step.Folder{Source: abs, Root: l.Root, Tree: tree}, err
}

// Save keeps what was hashed. Losing it costs only hashing.
func (s *Sources) Save() error { return s.files.Save() }

// Base is the folder that relative paths start from.
func (s *Sources) Base() string { return s.base }
