//go:build unix

package hashed

import (
	"io/fs"
	"syscall"
)

// tell adds what the system says of a file besides its size and mtime.
func (st *Stamp) tell(info fs.FileInfo) {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		st.Dev, st.Inode, st.CTime = uint64(sys.Dev), sys.Ino, changeTime(sys)
	}
}
