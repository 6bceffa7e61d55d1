package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
)

// NotEmptyError says that a folder that was to be made has something in it.
type NotEmptyError struct{ Dir string }

func (e *NotEmptyError) Error() string { return e.Dir + " is not empty" }

// atOnce bounds the blobs that are copied at a time: each takes some MiB in a bucket's client.
const atOnce = 8

// WriteFiles writes files into the folder dir, which must be new or empty, or is a
// *NotEmptyError. They are copies of their own, verified to their last byte, that may be
// written to. Folder and files appear at once: after an error or a kill dir is as it was.
// With into, dir may have files: those of the same names are replaced one by one, once
// all have been verified, and the others stay. wrote, which may be nil, is called with each
// piece from several goroutines.
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
	if cwd, err := os.Getwd(); into || err == nil && cwd == dir { // what a shell is in is not replaced
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
		g.Go(func() error { return placeBlob(gctx, blobs, f, tmp, wrote) })
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

// placeBlob copies a file's blob below folder.
func placeBlob(ctx context.Context, blobs artifacts.BlobReader, f artifacts.File, folder string, wrote func(n int64)) error {
	r, err := blobs.Open(ctx, f.Digest)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return errors.Join(Entry(folder, f.Name, f, 0o644, readers.Pieces(r, wrote)), r.Close())
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
