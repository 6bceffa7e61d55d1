// Package lockfile keeps the checksums of a pipeline's sources: redsi.lock has what first use pinned, beside the pipeline
// and under version control; a cache has the checksums of local files. It must not know how sources are fetched.
package lockfile

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/host/listing"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
)

// Name is the lock file's name, in the folder of the pipeline.
const Name = "redsi.lock"

type File struct {
	Format  string     `json:"format,omitempty"` // a file with members that this redsi does not know is refused
	Comment string     `json:"comment,omitempty"`
	Project string     `json:"project,omitempty"` // tells this project's runs from others' in one store
	Modules []Module   `json:"modules,omitempty"` // sorted by source
	Lists   []List     `json:"lists,omitempty"`   // sorted by pattern
	Sources []step.Pin `json:"sources"`           // sorted by source

	pins map[string]step.Pin // Sources, by source
}

const format = "redsi-lock/1"

const comment = "Checksums of this pipeline's sources, pinned by first use, and the project's id. Keep it under version control; delete a line to accept new bytes."

// Read reads a lock file; a missing file is an empty one.
func Read(path string) (*File, error) { return readWith(os.ReadFile, path) }

func readWith(read func(path string) ([]byte, error), path string) (*File, error) {
	f := &File{pins: map[string]step.Pin{}}
	b, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if err = json.Unmarshal(b, f); err == nil {
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		unknown := d.Decode(&File{})
		if f.Format != "" && f.Format != format {
			unknown = fmt.Errorf("its format is %q", f.Format)
		}
		if unknown != nil {
			return nil, fmt.Errorf("%s has what this redsi, of %s, would lose (%w): use the redsi that wrote it, or restore it from version control", path, format, unknown)
		}
		err = values.Lacks(b, f)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not a lock file: %w; restore it from version control, or delete it to pin again", path, err)
	}
	for _, p := range slices.Backward(f.Sources) { // of two, the first counts
		f.pins[p.Source] = p
	}
	return f, nil
}

func (f *File) Pinned(source string) (step.Pin, bool) {
	p, ok := f.pins[source]
	return p, ok
}

// change writes a lock file, as it is now, with what do changes of it, if that is something.
func change(path string, do func(*File) (changed bool, err error)) error {
	return system.Exclusively(path, func() error {
		f, err := Read(path)
		if err != nil {
			return err
		}
		if changed, err := do(f); err != nil || !changed {
			return err
		}
		sort.Slice(f.Sources, func(i, j int) bool { return f.Sources[i].Source < f.Sources[j].Source })
		f.Format, f.Comment = format, comment
		if f.Sources == nil {
			f.Sources = []step.Pin{}
		}
		return atomicfile.WriteJSON(path, f, "  ", 0o644)
	})
}

// Project is the id of the lock file's project, which it gets now if it has none. Clones share it with the file.
func Project(path string) (string, error) {
	f, err := Read(path)
	if err != nil {
		return "", err
	}
	if f.Project == "" {
		err = change(path, func(now *File) (bool, error) {
			if f = now; f.Project != "" {
				return false, nil
			}
			f.Project = rand.Text()
			return true, nil
		})
	}
	return f.Project, err
}

// Add pins sources that are not pinned yet; if nothing is new, it writes nothing. A pinned source with another checksum is an error.
func Add(path string, pins []step.Pin) error {
	f, err := Read(path)
	if err != nil {
		return err
	}
	if changed, err := f.add(path, pins); err != nil || !changed {
		return err
	}
	return change(path, func(f *File) (bool, error) { return f.add(path, pins) })
}

func (f *File) add(path string, pins []step.Pin) (changed bool, err error) {
	for _, p := range pins {
		have, ok := f.Pinned(p.Source)
		switch {
		case !ok:
			f.Sources = append(f.Sources, p)
			f.pins[p.Source] = p
			changed = true
		case have.SHA256 != p.SHA256:
			return false, fmt.Errorf("%s has sha256 %s, but %s pins %s; delete its line there to accept the new bytes", fetch.Redact(p.Source), p.SHA256.Hex(), path, have.SHA256.Hex())
		}
	}
	return changed, nil
}

// List pins the sources that a pattern stands for.
type List struct {
	Pattern string   `json:"pattern"`
	Sources []string `json:"sources"`
}

// PinList pins what a pattern stands for, replacing an earlier list, and writes the file.
func PinList(path string, l List) error {
	return change(path, func(f *File) (bool, error) {
		f.Lists = replaced(f.Lists, l, func(l List) string { return l.Pattern })
		return true, nil
	})
}

type Module struct {
	Source string `json:"source"` // git::URL?ref=REF, without a folder in it
	Commit string `json:"commit"`
	Tree   string `json:"tree"` // digest of the commit's files
}

func (f *File) Module(source string) (Module, bool) {
	i := slices.IndexFunc(f.Modules, func(m Module) bool { return m.Source == source })
	if i < 0 {
		return Module{}, false
	}
	return f.Modules[i], true
}

// PinModule pins a module's repository, replacing an earlier pin, and writes the file.
func PinModule(path string, m Module) error {
	return change(path, func(f *File) (bool, error) {
		f.Modules = replaced(f.Modules, m, func(m Module) string { return m.Source })
		return true, nil
	})
}

// replaced is a sorted list with x in place of what has the same name.
func replaced[T any](list []T, x T, name func(T) string) []T {
	list = append(slices.DeleteFunc(list, func(old T) bool { return name(old) == name(x) }), x)
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	return list
}

// Listed are the sources that a pattern stands for. The server is asked once, for the lock file.
func (s *Sources) Listed(ctx context.Context, pattern string) ([]string, error) {
	for _, f := range []*File{s.Lock, s.near} {
		if i := slices.IndexFunc(f.Lists, func(l List) bool { return l.Pattern == pattern }); i >= 0 {
			return f.Lists[i].Sources, nil
		}
	}
	if s.path == "" {
		return nil, fmt.Errorf("what %s stands for is not pinned in %s: redsi plan pins it where the pipeline is", pattern, Name)
	}
	list, err := fetch.List(ctx, pattern)
	if err != nil {
		return nil, err
	}
	l := List{pattern, list}
	s.Lock.Lists = append(s.Lock.Lists, l)
	return list, PinList(s.path, l)
}

// Relist says which sources a pattern stands for now, which of them are new, and which are gone.
func (l List) Relist(ctx context.Context) (now List, added, gone []string, err error) {
	now = List{Pattern: l.Pattern}
	if now.Sources, err = fetch.List(ctx, l.Pattern); err != nil {
		return now, nil, nil, err
	}
	return now, without(now.Sources, l.Sources), without(l.Sources, now.Sources), nil
}

// without is a list less the elements of another one, which is sorted.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		_, found := slices.BinarySearch(other, s)
		return found
	})
}

// Sources answers a pipeline's questions about sources before its keys are computed.
type Sources struct {
	step.NoSources // except for the sources that lock files and this machine have

	Lock   *File
	Asked  func(path string) // is told of each local file that is asked for; may be nil
	Base   string            // folder that relative paths start from; From sets it
	Rehash bool              // LocalFile reads files whatever is remembered of them

	file  func(path string) ([]byte, error) // reads lock files
	path  string                            // of the lock file, where lists are pinned; "": nowhere
	near  *File                             // lock file in Base
	read  map[string]*File
	files *hashed.Memory      // local files
	asked map[string]step.Pin // by absolute path: programs, for which thousands of steps ask
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
	return &Sources{Lock: f, file: file, near: f, read: map[string]*File{}, Base: base, files: hashed.Open(memo), asked: map[string]step.Pin{}}, nil
}

// From has relative paths start from a module's folder, whose own lock file adds pins that the pipeline's lacks.
func (s *Sources) From(base string) (err error) {
	s.Base = base
	if s.near = s.read[base]; s.near == nil {
		s.near, err = readWith(s.file, filepath.Join(base, Name))
		s.read[base] = s.near
	}
	return err
}

func (s *Sources) Pinned(source string) (step.Pin, bool) {
	if p, ok := s.Lock.Pinned(source); ok {
		return p, true
	}
	return s.near.Pinned(source)
}

// abs makes a path that starts from the base absolute.
func (s *Sources) abs(path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Base, path)
	}
	return filepath.Abs(path)
}

// LocalFile is the checksum of a local file, hashed unless remembered, once in a plan, with the absolute path as source.
func (s *Sources) LocalFile(ctx context.Context, path string) (step.Pin, error) {
	if pin, ok := s.asked[path]; ok && !s.Rehash {
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
	if s.Rehash {
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
