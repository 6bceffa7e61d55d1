package dir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/redsi/redsi/artifacts"
)

// Records is the record half of a store in a directory.
type Records struct {
	root, sub string
	loose     bool // not synced
}

var _ artifacts.Tidier = (*Records)(nil)

func (r *Records) top() string { return filepath.Join(r.root, r.sub) }

// there reports a store that is gone. The folder of loose records is made when there
// is one.
func (r *Records) there() error {
	_, err := os.Stat(filepath.Join(r.root, recordsDir))
	return err
}

func (r *Records) path(name string) string {
	return filepath.Join(r.top(), filepath.FromSlash(artifacts.RecordPath(name)))
}

// Get reads the record's file.
func (r *Records) Get(ctx context.Context, name string) ([]byte, error) {
	if err := check(ctx, name, nil); err != nil {
		return nil, err
	}
	f, size, err := openOurs(r.path(name))
	if err != nil && absent(err) {
		if err := r.there(); err != nil {
			return nil, explain("the store itself is gone", err)
		}
		return nil, fmt.Errorf("record %s: %w", name, artifacts.ErrNotExist)
	}
	if err != nil {
		return nil, explain("read a record", err)
	}
	b := bytes.NewBuffer(make([]byte, 0, min(size, artifacts.MaxRecord)+bytes.MinRead))
	_, err = b.ReadFrom(io.LimitReader(f, artifacts.MaxRecord+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, explain("read a record", err)
	}
	if b.Len() > artifacts.MaxRecord {
		return nil, &artifacts.DamageError{Name: name, Err: fmt.Errorf("%s is larger than any that redsi writes, %d bytes", r.path(name), artifacts.MaxRecord)}
	}
	return b.Bytes(), nil
}

// Create links the finished file to its name: the file system refuses a name
// that is taken, for every process and machine that mounts it.
func (r *Records) Create(ctx context.Context, name string, data []byte) error {
	err := r.write(ctx, name, data, os.Link)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("record %s: %w", name, artifacts.ErrExist)
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
		return fmt.Errorf("create a record: %w: that file system has no hard links, which a store needs; use another --store", err)
	}
	return explain("create a record", err)
}

// Put renames the finished file to its name.
func (r *Records) Put(ctx context.Context, name string, data []byte) error {
	return explain("write a record", r.write(ctx, name, data, os.Rename))
}

// Replace looks and renames under a lock on the store, which ends with its holder. A record
// that is deleted and created anew between the two is not told from old.
func (r *Records) Replace(ctx context.Context, name string, old, data []byte) error {
	lock := flock.New(filepath.Join(r.root, lockFile), flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o666))
	defer lock.Close()
	if err := lock.Lock(); err != nil {
		return explain("replace a record", fmt.Errorf("lock %s: %w", lock.Path(), err))
	}
	switch there, err := r.Get(ctx, name); {
	case err != nil:
		return err
	case !bytes.Equal(there, old):
		return fmt.Errorf("record %s: %w", name, artifacts.ErrExist)
	}
	return r.Put(ctx, name, data)
}

func (r *Records) write(ctx context.Context, name string, data []byte, move func(from, to string) error) error {
	if err := check(ctx, name, data); err != nil {
		return err
	}
	tmp, _, err := writeTemp(ctx, r.root, bytes.NewReader(data), r.loose)
	if err != nil {
		return err
	}
	defer os.Remove(tmp) // a link leaves it behind; after a rename it is gone
	return place(r.root, r.sub, tmp, r.path(name), r.loose, move)
}

func check(ctx context.Context, name string, data []byte) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return artifacts.CheckRecord(name, data)
}

// List walks the folder that holds every name with the prefix and sorts them.
func (r *Records) List(ctx context.Context, prefix string) iter.Seq2[artifacts.RecordInfo, error] {
	return func(yield func(artifacts.RecordInfo, error) bool) {
		found, err := r.find(ctx, prefix)
		if err != nil {
			yield(artifacts.RecordInfo{}, explain("list records", err))
			return
		}
		for _, info := range found {
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (r *Records) find(ctx context.Context, prefix string) ([]artifacts.RecordInfo, error) {
	folder, ok := artifacts.RecordFolder(prefix)
	if !ok {
		return nil, nil
	}
	var found []artifacts.RecordInfo
	err := filepath.WalkDir(filepath.Join(r.top(), filepath.FromSlash(folder)), func(p string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && (p != r.top() || r.loose) {
			return nil // no such folder, or deleted meanwhile
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(r.top(), p)
		if err != nil {
			return err
		}
		name, ok := artifacts.RecordName(filepath.ToSlash(rel))
		if !ok || !e.Type().IsRegular() || !strings.HasPrefix(name, prefix) {
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		found = append(found, artifacts.RecordInfo{Name: name, Size: info.Size(), ModTime: info.ModTime()})
		return nil
	})
	if err == nil && len(found) == 0 {
		err = r.there() // no such records, or no store any more?
	}
	slices.SortFunc(found, func(a, b artifacts.RecordInfo) int { return strings.Compare(a.Name, b.Name) })
	return found, err
}

// Delete removes the record's file.
func (r *Records) Delete(ctx context.Context, name string) error {
	if err := check(ctx, name, nil); err != nil {
		return err
	}
	return explain("delete a record", remove(r.path(name)))
}
