package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/filetype"
)

// asideDir keeps what was found in the place of a blob or a record, or beside them.
const asideDir = "aside"

// errNotOurs says that what is at a path is not a regular file. The store writes
// nothing else, so there is no such blob or record.
var errNotOurs = errors.New("not a regular file")

// openOurs opens a file that the store has written: no link is followed, and no pipe or
// device is waited for.
func openOurs(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|system.NoFollow|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	look := os.Lstat // what is there may be why it was not opened: a link, a socket, a folder that may not be read
	switch {
	case err == nil:
		look = func(string) (os.FileInfo, error) { return f.Stat() }
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if info, unknown := look(path); unknown != nil || info.Mode().IsRegular() {
		return f, err
	}
	if err == nil {
		f.Close()
	}
	return nil, errNotOurs
}

// absent reports an error that says that a file of the store is not there: nothing
// is, something else is, or a file is where its folder would be.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errNotOurs)
}

// makeWay moves aside what keeps the store from writing a file at path below
// root: a folder in its place, or a file in the place of its folder. It reports
// whether there was such a thing.
func makeWay(root, path string) (bool, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return false, err
	}
	parts := strings.Split(rel, string(filepath.Separator))
	at := filepath.Join(root, parts[0]) // which the store has made
	for i, part := range parts[1:] {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		last := i == len(parts)-2
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

// folder reports whether something is a folder, or a link that leads to one: files are opened
// through it, and none is moved out of the way for it.
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
		return "", err
	}
	if err := os.Rename(path, to); err != nil {
		return "", err
	}
	return to, nil
}

// describe says what is no regular file.
func describe(info fs.FileInfo) string { return "a " + filetype.Name(info.Mode()) }
