package local

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/redsi/redsi/artifacts"
)

// Create writes r to a new file below folder, making the folders in its name. Names
// of files in results, trees and checkpoints become paths here and in Link only: one
// that is not clean is refused, and no link in folder leads out of it.
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

// Entry writes an entry of a tree to a name below folder as it is: a file, of the mode or, if
// it is executable, that with x, a link, or an empty folder. r is read for files only.
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

// Link names a local file, as Fetch gives it, as a tree does: by a link in folder
// under the file's slash-separated name.
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
