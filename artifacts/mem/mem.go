package mem

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
)

// New returns an empty store.
func New() artifacts.Store { return NewAt(time.Now) }

// NewAt returns an empty store that takes modification times from now.
func NewAt(now func() time.Time) artifacts.Store {
	return artifacts.Store{
		Blobs:   &blobs{table[artifacts.Digest]{now: now, m: map[artifacts.Digest]entry{}}},
		Records: &records{table[string]{now: now, m: map[string]entry{}}},
		Leases:  &records{table[string]{now: now, m: map[string]entry{}}},
		URL:     "mem:",
	}
}

type entry struct {
	data []byte // never changed after it is stored
	mod  time.Time
}

type table[K comparable] struct {
	now func() time.Time
	mu  sync.Mutex
	m   map[K]entry
}

func (t *table[K]) get(k K) (entry, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.m[k]
	return e, ok
}

func (t *table[K]) put(k K, data []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.m[k] = entry{data, t.now()}
}

func (t *table[K]) create(k K, data []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.m[k]; ok {
		return false
	}
	t.m[k] = entry{data, t.now()}
	return true
}

// replace returns the error of Replace, without the name.
func (t *table[K]) replace(k K, old, data []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e, ok := t.m[k]; {
	case !ok:
		return artifacts.ErrNotExist
	case !bytes.Equal(e.data, old):
		return artifacts.ErrExist
	}
	t.m[k] = entry{data, t.now()}
	return nil
}

func (t *table[K]) delete(k K) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.m, k)
}

func (t *table[K]) snapshot(want func(K) bool) map[K]entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := map[K]entry{}
	for k, e := range t.m {
		if want(k) {
			all[k] = e
		}
	}
	return all
}

type blobs struct {
	table[artifacts.Digest]
}

func (b *blobs) Put(ctx context.Context, r io.Reader) (artifacts.Digest, int64, error) {
	data, err := io.ReadAll(readers.WithContext(ctx, r))
	if err != nil {
		return artifacts.Digest{}, 0, fmt.Errorf("store a blob: %w", err)
	}
	d := artifacts.Sum(data)
	b.put(d, data)
	return d, int64(len(data)), nil
}

func (b *blobs) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	e, ok := b.get(d)
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", d, artifacts.ErrNotExist)
	}
	r := readers.WithContext(ctx, bytes.NewReader(e.data))
	return artifacts.VerifyReader(io.NopCloser(r), d, "mem:"), nil
}

func (b *blobs) Missing(ctx context.Context, ds []artifacts.Digest) ([]artifacts.Digest, error) {
	var missing []artifacts.Digest
	seen := make(map[artifacts.Digest]bool, len(ds))
	for _, d := range ds {
		if _, ok := b.get(d); !ok && !seen[d] {
			missing = append(missing, d)
		}
		seen[d] = true
	}
	return missing, context.Cause(ctx)
}

func (b *blobs) List(ctx context.Context) iter.Seq2[artifacts.BlobInfo, error] {
	return func(yield func(artifacts.BlobInfo, error) bool) {
		if err := context.Cause(ctx); err != nil {
			yield(artifacts.BlobInfo{}, err)
			return
		}
		for d, e := range b.snapshot(func(artifacts.Digest) bool { return true }) {
			if !yield(artifacts.BlobInfo{Digest: d, Size: int64(len(e.data)), ModTime: e.mod}, nil) {
				return
			}
		}
	}
}

func (b *blobs) Delete(ctx context.Context, d artifacts.Digest) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	b.delete(d)
	return nil
}

type records struct {
	table[string]
}

func (r *records) Get(ctx context.Context, name string) ([]byte, error) {
	if err := check(ctx, name, nil); err != nil {
		return nil, err
	}
	e, ok := r.get(name)
	if !ok {
		return nil, fmt.Errorf("record %s: %w", name, artifacts.ErrNotExist)
	}
	return bytes.Clone(e.data), nil
}

func (r *records) Create(ctx context.Context, name string, data []byte) error {
	if err := check(ctx, name, data); err != nil {
		return err
	}
	if !r.create(name, bytes.Clone(data)) {
		return fmt.Errorf("record %s: %w", name, artifacts.ErrExist)
	}
	return nil
}

func (r *records) Put(ctx context.Context, name string, data []byte) error {
	if err := check(ctx, name, data); err != nil {
		return err
	}
	r.put(name, bytes.Clone(data))
	return nil
}

func (r *records) Replace(ctx context.Context, name string, old, data []byte) error {
	if err := check(ctx, name, data); err != nil {
		return err
	}
	if err := r.replace(name, old, bytes.Clone(data)); err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	return nil
}

func check(ctx context.Context, name string, data []byte) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return artifacts.CheckRecord(name, data)
}

func (r *records) List(ctx context.Context, prefix string) iter.Seq2[artifacts.RecordInfo, error] {
	return func(yield func(artifacts.RecordInfo, error) bool) {
		if err := context.Cause(ctx); err != nil {
			yield(artifacts.RecordInfo{}, err)
			return
		}
		all := r.snapshot(func(name string) bool { return strings.HasPrefix(name, prefix) })
		for _, name := range slices.Sorted(maps.Keys(all)) {
			e := all[name]
			if !yield(artifacts.RecordInfo{Name: name, Size: int64(len(e.data)), ModTime: e.mod}, nil) {
				return
			}
		}
	}
}

func (r *records) Delete(ctx context.Context, name string) error {
	if err := check(ctx, name, nil); err != nil {
		return err
	}
	r.delete(name)
	return nil
}
