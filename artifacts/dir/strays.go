package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/filetype"
)

// asideDir keeps what was found in the place of a blob or a record, or beside them.
const asideDir = "aside"

// errNotOurs says that what is at a path is not a regular file. The store writes
// nothing else, so there is no such blob or record.
var errNotOurs = errors.New("not a regular file")

// openOurs opens a file that the store has written, and returns its size: no link is
// followed, and no pipe or device is waited for.
func openOurs(path string) (f *os.File, size int64, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errNotOurs
	}
	f, err = os.OpenFile(path, os.O_RDONLY|system.NoFollow|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, 0, errNotOurs
	}
	return f, info.Size(), err
}

// absent reports an error that says that a file of the store is not there: nothing
// is, something else is, or a file is where its folder would be.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errNotOurs)
}

// makeWay moves aside what keeps the store from writing a file at path below
// root/sub: a folder in its place, or a file in the place of its folder. It reports
// whether there was such a thing.
func makeWay(root, sub, path string) (bool, error) {
	top := filepath.Join(root, sub)
	rel, err := filepath.Rel(top, path)
	if err != nil {
		return false, err
	}
	parts := strings.Split(rel, string(filepath.Separator))
	at := top
	for i, part := range parts {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		last := i == len(parts)-1
		if last && info.Mode().IsRegular() {
			return false, nil
		}
		if last || !folder(at, info) {
			_, err := setAside(root, at)
			return err == nil, err
		}
	}
	return false, nil
}

// folder reports whether a folder of the store is one; a link to one is, so that a
// part of a store can lie on another disk.
func folder(path string, info fs.FileInfo) bool {
	if info.Mode()&fs.ModeSymlink != 0 {
		var err error
		if info, err = os.Stat(path); err != nil {
			return false
		}
	}
	return info.IsDir()
}

// setAside moves what is at path, in a folder of the store at root, to
// root/aside, whatever it is.
func setAside(root, path string) (string, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is not in the store %s", path, root)
	}
	stamp := time.Now().UTC().Format("20060102T150405.000000000")
	to := filepath.Join(root, asideDir, stamp, rel)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return "", explain("set aside", err)
	}
	if err := os.Rename(path, to); err != nil {
		return "", explain("set aside", err)
	}
	return to, nil
}

// describe says what a stray is.
func describe(info fs.FileInfo) string {
	if info.Mode().IsRegular() {
		return fmt.Sprintf("a file of %d bytes", info.Size())
	}
	return "a " + filetype.Name(info.Mode())
}

// strays walks sub and yields what spot does not know, which gives, for a path
// relative to sub, what should be there.
func strays(ctx context.Context, root, sub string, spot func(rel string) artifacts.Spot) iter.Seq2[artifacts.Stray, error] {
	return func(yield func(artifacts.Stray, error) bool) {
		top := filepath.Join(root, sub)
		err := filepath.WalkDir(top, func(p string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && p != top {
				return nil // deleted meanwhile
			}
			if err == nil {
				err = context.Cause(ctx)
			}
			if err != nil || p == top {
				return err
			}
			rel, err := filepath.Rel(top, p)
			if err != nil {
				return err
			}
			s := spot(filepath.ToSlash(rel))
			if s.File && e.Type().IsRegular() || s.Folder && e.IsDir() {
				return nil
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			if s.Folder && folder(p, info) {
				return nil
			}
			found := artifacts.Stray{Path: p, What: describe(info), Place: s.Name}
			if e.IsDir() {
				if n := entries(p); n > 0 {
					found.What = fmt.Sprintf("a folder of %d", n)
				}
			}
			if !yield(found, nil) {
				return fs.SkipAll
			}
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			yield(artifacts.Stray{}, explain("look through the store's folders", err))
		}
	}
}

func entries(dir string) int {
	all, _ := os.ReadDir(dir) // only for the words
	return len(all)
}

// Strays implements artifacts.Tidier.
func (b *Blobs) Strays(ctx context.Context) iter.Seq2[artifacts.Stray, error] {
	return strays(ctx, b.root, blobsDir, artifacts.BlobSpot)
}

// SetAside implements artifacts.Tidier.
func (b *Blobs) SetAside(_ context.Context, s artifacts.Stray) (string, error) {
	return setAside(b.root, s.Path)
}

// Strays implements artifacts.Tidier.
func (r *Records) Strays(ctx context.Context) iter.Seq2[artifacts.Stray, error] {
	return strays(ctx, r.root, r.sub, artifacts.RecordSpot)
}

// SetAside implements artifacts.Tidier.
func (r *Records) SetAside(_ context.Context, s artifacts.Stray) (string, error) {
	return setAside(r.root, s.Path)
}
