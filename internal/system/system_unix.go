//go:build unix

package system

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// NoFollow opens no symbolic link.
const NoFollow = syscall.O_NOFOLLOW

// Signals that not every system has.
const (
	SIGXCPU = syscall.SIGXCPU
	SIGXFSZ = syscall.SIGXFSZ
	SIGSYS  = syscall.SIGSYS
)

// Session makes a program lead its own session, so a process group, without a terminal to ask questions on.
func Session() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// KillGroup kills a process group; an empty group is not an error.
func KillGroup(leader int) error {
	err := syscall.Kill(-leader, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) { // EPERM: macOS, of a group of zombies
		return nil
	}
	return err
}

// CloseOnExec keeps a file from the programs that this process starts.
func CloseOnExec(f *os.File) { syscall.CloseOnExec(int(f.Fd())) }

// Free returns how many bytes the disk of a folder has left; false if the system does not tell.
func Free(dir string) (int64, bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

// Private returns an error unless only this account can write to a folder.
func Private(info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || st.Uid != uint32(os.Getuid()) || info.Mode().Perm()&0o022 != 0 {
		return errors.New("is not a folder that only this account can write to")
	}
	return nil
}

// Owner names the account of a file or, if that cannot be looked at, of the nearest folder around it that can.
func Owner(path string) string {
	info, err := os.Stat(path)
	for err != nil && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		info, err = os.Stat(path)
	}
	if err != nil {
		return "another account"
	}
	id := strconv.FormatUint(uint64(info.Sys().(*syscall.Stat_t).Uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "account " + id // the system does not know it, as in some containers
}
