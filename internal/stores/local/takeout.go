package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
)

// NotEmptyError says that a folder that must be empty is not.
type NotEmptyError struct{ Dir string }

func (e *NotEmptyError) Error() string { return e.Dir + " is not empty" }

// atOnce bounds the blobs that are copied at a time: each takes some MiB in a bucket's client.
const atOnce = 8

// WriteFiles writes files into the folder dir, which must be new or empty (*NotEmptyError). They are verified copies
// that may be written to. Folder and files appear at once: after an error or a kill dir is as it was. With into, dir
// may have files: once all copies have been verified, files of the same names are replaced one by one, and the others
// stay. wrote, which may be nil, is told the bytes of each piece, from several goroutines.
func WriteFiles(ctx context.Context, blobs artifacts.BlobReader, files []artifacts.File, dir string, into bool, wrote func(n int64)) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	have, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		into = false
	case err != nil:
		return err
	case len(have) > 0 && !into:
		return &NotEmptyError{dir}
	}
	parent := filepath.Dir(dir)
	if cwd, err := os.Getwd(); into || err == nil && cwd == dir { // a shell's folder is not replaced
		into, parent = true, dir
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(parent, ".redsi-get-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) // after the rename there is none
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, f := range files {
		g.Go(func() error {
			r, err := blobs.Open(gctx, f.Digest)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			return errors.Join(Entry(tmp, f.Name, f, 0o644, readers.Pieces(r, wrote)), r.Close())
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if into {
		return moveFiles(dir, filepath.Base(tmp), files)
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is empty
		return err
	}
	return os.Rename(tmp, dir)
}

// moveFiles moves files from a folder within dir to dir itself.
func moveFiles(dir, from string, files []artifacts.File) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		err := root.MkdirAll(path.Dir(f.Name), 0o755)
		if f.Mode == artifacts.Folder {
			err = root.MkdirAll(f.Name, 0o755) // one with files may be there
		} else if err == nil {
			err = root.Rename(path.Join(from, f.Name), f.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Create writes r to a new file below folder, and makes the folders in its name. Only here and in Link do names of
// files in results, trees and checkpoints become paths: a name that is not clean is refused, and no link in folder
// leads out of it.
func Create(folder, name string, mode fs.FileMode, r io.Reader) error {
	return below(folder, name, func(root *os.Root) error {
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		return errors.Join(err, f.Close())
	})
}

// Entry writes an entry of a tree under a name below folder: a file of the mode, with x bits if it is executable, a
// link, or an empty folder. r is read for files only.
func Entry(folder, name string, f artifacts.File, mode fs.FileMode, r io.Reader) error {
	switch f.Mode {
	case artifacts.Folder:
		return below(folder, name, func(root *os.Root) error { return root.MkdirAll(name, 0o755) })
	case artifacts.Link:
		if err := artifacts.CheckLink(f.Name, f.Link); err != nil {
			return err
		}
		return below(folder, name, func(root *os.Root) error { return root.Symlink(filepath.FromSlash(f.Link), name) })
	case artifacts.Executable:
		mode |= 0o111
	}
	return Create(folder, name, mode, r)
}

// Link gives a local file, as Fetch returns it, a slash-separated name below folder, by a link.
func Link(folder, name, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	return below(folder, name, func(root *os.Root) error { return root.Symlink(path, name) })
}

func below(folder, name string, do func(*os.Root) error) error {
	if err := artifacts.CheckFileName(name); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	if err = root.MkdirAll(path.Dir(name), 0o755); err == nil {
		err = do(root)
	}
	return errors.Join(err, root.Close())
}
