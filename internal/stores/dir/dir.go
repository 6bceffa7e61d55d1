package dir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
)

const (
	blobsDir   = "blobs"
	recordsDir = "records"
	leasesDir  = "leases"
	tmpDir     = "tmp"
)

// staleAfter is the age at which a file in tmp/ has no writer any more. A long download keeps its file young
// by writing to it.
const staleAfter = 24 * time.Hour

// Open returns the store in the directory root, which it makes if need be, and sweeps what killed writers
// left there.
func Open(root string) (artifacts.Store, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return artifacts.Store{}, fmt.Errorf("store %s: %w", root, err)
	}
	for _, sub := range []string{blobsDir, recordsDir, tmpDir} {
		if err := os.MkdirAll(filepath.Join(abs, sub), 0o777); err != nil {
			return artifacts.Store{}, explain(fmt.Errorf("open the store: %w", err))
		}
	}
	if err := sweep(filepath.Join(abs, tmpDir), time.Now().Add(-staleAfter)); err != nil {
		return artifacts.Store{}, explain(fmt.Errorf("sweep the store: %w", err))
	}
	return artifacts.On(&driver{root: abs}, address(abs)), nil
}

// OpenReader returns the store in the directory root, only to be read, as from a read-only disk: it makes and
// sweeps nothing. If there is no such store, its methods say so.
func OpenReader(root string) (artifacts.Reader, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return artifacts.Reader{}, fmt.Errorf("store %s: %w", root, err)
	}
	return artifacts.ReadOn(&driver{root: abs}, address(abs)), nil
}

func address(abs string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}
	return u.String()
}

// sweep deletes files in tmp that were last written before the given time. It leaves files that this user may
// not delete, so that a store that is read-only to the user opens too.
func sweep(tmp string, before time.Time) error {
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // its writer has just finished
		}
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() && info.ModTime().Before(before) {
			err := os.Remove(filepath.Join(tmp, e.Name()))
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
				return err
			}
		}
	}
	return nil
}

// writeTemp writes all of r to a new read-only file in root's tmp/, synced unless it is loose, and returns its
// path. After an error there is no file.
func writeTemp(ctx context.Context, root string, r io.Reader, loose bool) (path string, n int64, err error) {
	f, err := os.CreateTemp(filepath.Join(root, tmpDir), "put-*")
	if err != nil {
		return "", 0, err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if n, err = io.Copy(f, readers.WithContext(ctx, r)); err != nil {
		return "", 0, err
	}
	if err = f.Chmod(0o444); err != nil {
		return "", 0, err
	}
	if !loose {
		if err = f.Sync(); err != nil { // before the rename, or a power cut leaves an empty file
			return "", 0, err
		}
	}
	if err = f.Close(); err != nil { // some file systems report a full disk only here
		return "", 0, err
	}
	return f.Name(), n, nil
}

// place moves a finished file to its name below root by move (os.Rename or os.Link), makes the folder if need
// be, and makes the new name durable unless the file is loose. A stray that is in the way is moved aside.
func place(root, tmp, dst string, loose bool, move func(from, to string) error) error {
	err := move(tmp, dst)
	for range 3 { // a stray at each level, at the most
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			break
		}
		moved, merr := makeWay(root, dst)
		if merr != nil {
			return merr
		}
		if !moved {
			break
		}
		err = move(tmp, dst)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err = mkdirSynced(filepath.Dir(dst)); err != nil {
			return err
		}
		err = move(tmp, dst)
	}
	if err != nil || loose {
		return err
	}
	return syncDir(filepath.Dir(dst))
}

// mkdirSynced makes dir and its parents and syncs the folder of each new one.
func mkdirSynced(dir string) error {
	err := os.Mkdir(dir, 0o777)
	switch {
	case err == nil:
		return syncDir(filepath.Dir(dir))
	case errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		if err := mkdirSynced(filepath.Dir(dir)); err != nil {
			return err
		}
		return mkdirSynced(dir)
	}
	return err
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	// Some file systems cannot sync a folder and say EINVAL; the rename is then
	// as durable as they can make it.
	if err = f.Sync(); errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

// explain adds to an error of the file system, which has the path, what to do about it.
func explain(err error) error {
	var hint string
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		hint = ": the disk is full; free space, for example with `redsi gc`, or use another --store"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		hint = ": this user cannot write there; change its owner or use another --store"
	case errors.Is(err, syscall.EXDEV):
		hint = ": all folders of a store must be in one file system; link or mount the whole store"
	case errors.Is(err, syscall.ENOTDIR):
		hint = ": a part of that path is a file, not a directory"
	case errors.Is(err, syscall.EMFILE):
		hint = ": too many open files; raise `ulimit -n`"
	}
	return fmt.Errorf("%w%s", err, hint)
}
