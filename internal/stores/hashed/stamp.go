package hashed

import (
	"fmt"
	"os"
	"syscall"
)

// Stamp tells a file from every other, and from itself after a change: size and
// mtime can be set back by anybody (cp -p, rsync -t, tar), inode and ctime cannot.
// Linux keeps a change counter for its NFS server and gives it to no program
// (statx clears STATX_CHANGE_COOKIE), so the ctime is the best there is.
type Stamp struct {
	Dev   uint64 `json:"dev"`
	Inode uint64 `json:"inode"`
	Size  int64  `json:"size"`
	MTime int64  `json:"mtime_ns"`
	CTime int64  `json:"ctime_ns"`
}

// StampOf is the stamp of the file at path, which must be a regular one. It opens
// the file: a network file system answers from an old answer otherwise.
func StampOf(path string) (Stamp, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return Stamp{}, err
	}
	defer f.Close()
	return stampOf(f)
}

// OpenRegular opens a regular file and refuses everything else without waiting,
// as opening a pipe would.
func OpenRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
