package mem

import (
	"bytes"
	"context"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// New returns an empty store.
func New() artifacts.Store { return NewAt(time.Now) }

// NewAt returns an empty store that takes modification times from now.
func NewAt(now func() time.Time) artifacts.Store {
	return artifacts.On(&driver{now: now, files: map[string]file{}}, "mem:")
}

type driver struct {
	now   func() time.Time
	mu    sync.Mutex
	files map[string]file
}

type file struct {
	data []byte // never changed after it is stored
	mod  time.Time
}

func (d *driver) Where(string) string { return "mem:" }

func (d *driver) Open(_ context.Context, path string) (io.ReadCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.files[path]
	if !ok {
		return nil, artifacts.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(f.data)), nil
}

func (d *driver) Has(_ context.Context, paths []string) ([]bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	there := make([]bool, len(paths))
	for i, p := range paths {
		_, there[i] = d.files[p]
	}
	return there, nil
}

// List yields what is there as it begins.
func (d *driver) List(_ context.Context, prefix string) iter.Seq2[artifacts.FileInfo, error] {
	return func(yield func(artifacts.FileInfo, error) bool) {
		for _, f := range d.starting(prefix) {
			if !yield(f, nil) {
				return
			}
		}
	}
}

// starting lists the files with a prefix, sorted, so that a test repeats.
func (d *driver) starting(prefix string) (found []artifacts.FileInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for path, f := range d.files {
		if strings.HasPrefix(path, prefix) {
			found = append(found, artifacts.FileInfo{Path: path, Size: int64(len(f.data)), ModTime: f.mod})
		}
	}
	slices.SortFunc(found, func(a, b artifacts.FileInfo) int { return strings.Compare(a.Path, b.Path) })
	return found
}

func (d *driver) Ingest(_ context.Context, r io.Reader, path func(artifacts.Digest) string) (artifacts.Digest, int64, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return artifacts.Digest{}, 0, err
	}
	sum := artifacts.Sum(data)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[path(sum)] = file{data, d.now()}
	return sum, int64(len(data)), nil
}

func (d *driver) Put(_ context.Context, path string, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[path] = file{bytes.Clone(data), d.now()}
	return nil
}

func (d *driver) Create(_ context.Context, path string, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.files[path]; ok {
		return artifacts.ErrExist
	}
	d.files[path] = file{bytes.Clone(data), d.now()}
	return nil
}

func (d *driver) Replace(_ context.Context, path string, old, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch f, ok := d.files[path]; {
	case !ok:
		return artifacts.ErrNotExist
	case !bytes.Equal(f.data, old):
		return artifacts.ErrExist
	}
	d.files[path] = file{bytes.Clone(data), d.now()}
	return nil
}

func (d *driver) Delete(_ context.Context, path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.files, path)
	return nil
}
