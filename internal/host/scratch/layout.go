package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// layout is a folder as it was made, with the folders in it. Most steps need the same ones, and the system takes longer to
// make and remove them than to empty them; a file system may even search all that was removed a while ago for each that is made.
type layout struct {
	dir  string
	subs []string
	is   []fs.FileInfo // of the folder, and of each in it
}

// grownBytes is how large a folder may have become in which there will be few files: some file systems search all of it.
const grownBytes = 64 << 10

func makeLayout(dir string, subs []string) (l layout, err error) {
	l = layout{dir: dir, subs: subs}
	if err = os.Mkdir(dir, 0o700); err != nil {
		return l, err
	}
	for _, sub := range subs {
		if err = os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			return l, err
		}
	}
	l.is, err = l.look()
	return l, err
}

func (l layout) look() (is []fs.FileInfo, err error) {
	for _, name := range append([]string{"."}, l.subs...) {
		info, err := os.Lstat(filepath.Join(l.dir, name))
		if err != nil {
			return nil, err
		}
		is = append(is, info)
	}
	return is, nil
}

// restore makes the folder what it was, and reports whether it is; it leaves alone what is no longer the same.
func (l layout) restore() bool {
	is, err := l.look()
	if err != nil || len(l.subs) == 0 {
		return false
	}
	for n, info := range is {
		if !os.SameFile(info, l.is[n]) || info.Mode() != l.is[n].Mode() || info.Size() > grownBytes {
			return false
		}
	}
	err = empty(l.dir, l.subs)
	for _, sub := range l.subs {
		err = errors.Join(err, empty(filepath.Join(l.dir, sub), nil))
	}
	return err == nil
}

// empty removes what is in a folder, but for some names.
func empty(dir string, but []string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(but, name) {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}
