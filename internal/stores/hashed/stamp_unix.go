//go:build unix

package hashed

import (
	"os"

	"golang.org/x/sys/unix"
)

func stampOf(f *os.File) (Stamp, error) {
	var s unix.Stat_t
	var err error = unix.EINTR
	for err == unix.EINTR { // as os does it: a network file system may be interrupted
		err = unix.Fstat(int(f.Fd()), &s)
	}
	if err != nil {
		return Stamp{}, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return Stamp{uint64(s.Dev), uint64(s.Ino), s.Size, s.Mtim.Nano(), s.Ctim.Nano()}, nil
}
