package dir

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/readers"
)

// driver keeps a store's files below root.
type driver struct {
	root    string
	durable durable
}

var (
	_ artifacts.Driver      = (*driver)(nil)
	_ artifacts.LocalDriver = (*driver)(nil)
	_ artifacts.TidyDriver  = (*driver)(nil)
)

// Where is the file's path in the file system.
func (d *driver) Where(path string) string { return filepath.Join(d.root, filepath.FromSlash(path)) }

// LocalPath implements artifacts.LocalDriver.
func (d *driver) LocalPath(path string) (string, bool) {
	file := d.Where(path)
	info, err := os.Lstat(file)
	return file, err == nil && info.Mode().IsRegular()
}

// isLoose reports whether a file need not survive a loss of power.
func isLoose(path string) bool { return strings.HasPrefix(path, leasesDir+"/") }

// alive tells a file that is not there from a store that is not there, such as a disk that is
// not mounted: that must never look like a cache miss. The folder of leases is made when
// there is one.
func (d *driver) alive(path string) error {
	top, _, _ := strings.Cut(path, "/")
	if isLoose(path) {
		top = recordsDir
	}
	if _, err := os.Stat(filepath.Join(d.root, top)); err != nil {
		return explain(fmt.Errorf("the store itself is gone: %w", err))
	}
	return nil
}

// Open opens a file that the store has written.
func (d *driver) Open(_ context.Context, path string) (io.ReadCloser, error) {
	f, err := openOurs(d.Where(path))
	if err != nil && absent(err) {
		if err := d.alive(path); err != nil {
			return nil, err
		}
		return nil, artifacts.ErrNotExist
	}
	if err != nil {
		return nil, explain(err)
	}
	return f, nil
}

// Has looks at names only, and takes nothing but a file for one.
func (d *driver) Has(ctx context.Context, paths []string) ([]bool, error) {
	there := make([]bool, len(paths))
	gone := ""
	for i, p := range paths {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		info, err := os.Lstat(d.Where(p))
		if err != nil && !absent(err) {
			return nil, explain(err)
		}
		if there[i] = err == nil && info.Mode().IsRegular(); !there[i] {
			gone = p
		}
	}
	if gone == "" {
		return there, nil
	}
	return there, d.alive(gone)
}

// List walks the folder in which every path with the prefix is.
func (d *driver) List(ctx context.Context, prefix string) iter.Seq2[artifacts.FileInfo, error] {
	return func(yield func(artifacts.FileInfo, error) bool) {
		top := d.Where(path.Dir(prefix + "x"))
		for at := top; at != d.root; at = filepath.Dir(at) {
			if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				yield(d.info(at, fs.FileInfoToDirEntry(info)))
				return
			}
		}
		found := false
		err := filepath.WalkDir(top, func(p string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // no such folder, or deleted meanwhile
			}
			if err == nil {
				err = context.Cause(ctx)
			}
			if err != nil || p == top && e.IsDir() {
				return err
			}
			f, err := d.info(p, e)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case !strings.HasPrefix(f.Path, prefix):
				return skip(e)
			}
			found = true
			if !yield(f, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err == nil && !found {
			err = d.alive(prefix)
		}
		if err != nil {
			yield(artifacts.FileInfo{}, explain(err))
		}
	}
}

// skip leaves a folder out of a walk.
func skip(e fs.DirEntry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// info says what a walk has come to.
func (d *driver) info(file string, e fs.DirEntry) (artifacts.FileInfo, error) {
	rel, err := filepath.Rel(d.root, file)
	if err != nil {
		return artifacts.FileInfo{}, err
	}
	f := artifacts.FileInfo{Path: filepath.ToSlash(rel)}
	if e.IsDir() {
		f.What, f.Folder = "a folder", true
		return f, nil
	}
	info, err := e.Info()
	if err != nil {
		return f, err
	}
	f.Size, f.ModTime = info.Size(), info.ModTime()
	if !info.Mode().IsRegular() {
		f.What = describe(info)
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Stat(file)
			f.Linked = err != nil || to.IsDir()
		}
	}
	return f, nil
}

// Ingest moves the new file into place, over an old one too: the content is the same, the
// age starts anew, and bytes that have gone bad are healed. Only a short file is left where it
// is, when its bytes are right.
func (d *driver) Ingest(ctx context.Context, r io.Reader, path func(artifacts.Digest) string) (artifacts.Digest, int64, error) {
	source := &readers.Failing{R: r}
	start, err := io.ReadAll(io.LimitReader(source, smallBlob+1))
	if err != nil {
		return artifacts.Digest{}, 0, err
	}
	if len(start) <= smallBlob {
		if sum := artifacts.Sum(start); d.present(d.Where(path(sum)), start) {
			return sum, int64(len(start)), nil
		}
	}
	hash := sha256.New()
	tmp, n, err := writeTemp(ctx, d.root, io.TeeReader(io.MultiReader(bytes.NewReader(start), source), hash), false)
	if err != nil {
		return artifacts.Digest{}, 0, cmp.Or(source.Err, explain(err))
	}
	sum := artifacts.Digest(hash.Sum(nil))
	file := d.Where(path(sum))
	if err := place(d.root, tmp, file, false, os.Rename); err != nil {
		os.Remove(tmp)
		return artifacts.Digest{}, 0, explain(err)
	}
	if n <= smallBlob {
		d.durable.add(file)
	}
	return sum, n, nil
}

// Create links the finished file to its name: the file system refuses a name
// that is taken, for every process and machine that mounts it.
func (d *driver) Create(ctx context.Context, path string, data []byte) error {
	err := d.write(ctx, path, data, os.Link)
	switch {
	case errors.Is(err, fs.ErrExist):
		return artifacts.ErrExist
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
		return fmt.Errorf("%w: that file system has no hard links, which a store needs; use another --store", err)
	}
	return explain(err)
}

// Put renames the finished file to its name.
func (d *driver) Put(ctx context.Context, path string, data []byte) error {
	return explain(d.write(ctx, path, data, os.Rename))
}

func (d *driver) write(ctx context.Context, path string, data []byte, move func(from, to string) error) error {
	tmp, _, err := writeTemp(ctx, d.root, bytes.NewReader(data), isLoose(path))
	if err != nil {
		return err
	}
	defer os.Remove(tmp) // a link leaves it behind; after a rename it is gone
	return place(d.root, tmp, d.Where(path), isLoose(path), move)
}

// Replace looks and renames under a lock on the store, which ends with its holder. A file
// that is deleted and created anew between the two is not told from old.
func (d *driver) Replace(ctx context.Context, path string, old, data []byte) error {
	lock := flock.New(filepath.Join(d.root, lockFile), flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o666))
	defer lock.Close()
	if err := lock.Lock(); err != nil {
		return explain(system.LockError(err, lock.Path(), "use another --store"))
	}
	f, err := d.Open(ctx, path)
	if err != nil {
		return err
	}
	there, err := io.ReadAll(io.LimitReader(f, int64(len(old))+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return explain(err)
	}
	if !bytes.Equal(there, old) {
		return artifacts.ErrExist
	}
	return d.Put(ctx, path, data)
}

// Delete removes a file of the store, if it is there; a stray stays.
func (d *driver) Delete(_ context.Context, path string) error {
	file := d.Where(path)
	info, err := os.Lstat(file)
	if err == nil && info.Mode().IsRegular() {
		err = os.Remove(file)
	}
	if err != nil && !absent(err) {
		return explain(err)
	}
	return nil
}

// SetAside implements artifacts.TidyDriver.
func (d *driver) SetAside(_ context.Context, path string) (string, error) {
	to, err := setAside(d.root, d.Where(path))
	return to, explain(err)
}
