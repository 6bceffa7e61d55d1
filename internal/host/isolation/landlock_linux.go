package isolation

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of a file, and of a folder and what is in it. Landlock has all of them since Linux 6.2; without the right
// to truncate it keeps nothing out.
const (
	landlockABI = 3
	fileRead    = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	fileWrite   = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	read        = fileRead | unix.LANDLOCK_ACCESS_FS_READ_DIR
	all         = unix.LANDLOCK_ACCESS_FS_REFER<<1 - 1 | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// landlock keeps this thread, and what it starts, to the files of the program: a second wall behind arrange.
func landlock(reads []string) error {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return fmt.Errorf("this kernel has no Landlock, or it is not switched on (Linux 6.2, lsm=landlock): %w", errno)
	}
	if abi < landlockABI {
		return fmt.Errorf("this kernel's Landlock has version %d; version %d (Linux 6.2) is needed", abi, landlockABI)
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: all}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), 8, 0) // 8 bytes: files only
	if errno != 0 {
		return fmt.Errorf("Landlock: %w", errno)
	}
	defer unix.Close(int(fd))
	rules := map[string]uint64{"/": unix.LANDLOCK_ACCESS_FS_READ_DIR, "/proc": read | fileWrite, Folder: all, "/tmp": all, "/dev/shm": all}
	for _, p := range reads {
		rules[p] |= read
	}
	for _, d := range devices {
		rules[d] = fileRead | fileWrite
	}
	for path, rights := range rules {
		if err := allow(int(fd), path, rights); err != nil {
			return fmt.Errorf("Landlock, %s: %w", path, err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("Landlock: %w", errno)
	}
	return nil
}

func allow(ruleset int, path string, rights uint64) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // there is nothing to allow
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		rights &= fileRead | fileWrite
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
