package system

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Tied has the system end a program with the thread that starts it, and so with this process, however that ends.
func Tied(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	a.Pdeathsig = syscall.SIGKILL
	return a
}

// FileSystem returns the kind of the file system of a folder, or of the nearest existing folder above it, and its mount
// options; "" if the system does not tell.
func FileSystem(dir string) (kind, options string) {
	f, err := os.Open(dir)
	for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		f, err = os.Open(dir)
	}
	if err != nil {
		return "", ""
	}
	defer f.Close()
	about, _ := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", f.Fd()))
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	_, id, _ := strings.Cut(string(about), "mnt_id:\t")
	id, _, _ = strings.Cut(id, "\n")
	return mounted(string(mounts), id)
}

// mounted finds a mount in the text of proc_pid_mountinfo(5), whose options may have blanks.
func mounted(mounts, id string) (kind, options string) {
	for line := range strings.Lines(mounts) {
		if mount, ok := strings.CutPrefix(line, id+" "); ok {
			_, of, _ := strings.Cut(mount, " - ")
			if parts := strings.SplitN(strings.TrimSpace(of), " ", 3); len(parts) == 3 {
				return parts[0], parts[2]
			}
		}
	}
	return "", ""
}
