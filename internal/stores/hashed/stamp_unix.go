//go:build unix

package hashed

import (
	"os"

	"golang.org/x/sys/unix"
)

func stampOf(f *os.File) (Stamp, error) {
	var s unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &s)
	return Stamp{uint64(s.Dev), uint64(s.Ino), s.Size, s.Mtim.Nano(), s.Ctim.Nano()}, err
}
