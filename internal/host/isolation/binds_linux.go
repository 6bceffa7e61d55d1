package isolation

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// helps is true if the main function of this program calls Helper, so that it can be started as a helper.
var helps atomic.Bool

// WithBinds calls start, which starts a program and waits for its end, such that the program sees b.Binds. They last
// as long as the program and what it leaves running. start gets the Box in which to start the program, nil if none is
// needed. The error is start's or a *BindError.
func (b Box) WithBinds(start func(*Box) error) error {
	switch {
	case b.Mode != Off, os.Geteuid() != 0 && helps.Load():
		return start(&b)
	case os.Geteuid() != 0:
		return &BindError{errors.New("this account may not mount")}
	}
	return onThread(func() error {
		if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
			return &BindError{err}
		}
		if err := bind(b.Binds); err != nil {
			return &BindError{err}
		}
		return start(nil)
	})
}

// onThread calls f on a thread, never the main one, that ends after f, and with it f's changes to the thread.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked
		if unix.Gettid() == os.Getpid() {
			defer runtime.UnlockOSThread()
			done <- onThread(f)
			return
		}
		done <- f()
	}()
	return <-done
}

// bind mounts binds in this thread's mount namespace. What others mount later still appears there.
func bind(binds []Bind) error {
	if len(binds) == 0 {
		return nil
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	for _, b := range binds {
		if err := b.mount(); err != nil {
			return fmt.Errorf("%s: %w", b.To, err)
		}
	}
	return nil
}

func (b Bind) mount() error {
	fd, err := detached(b.From, unix.AT_SYMLINK_NOFOLLOW, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.MoveMount(fd, "", unix.AT_FDCWD, b.To, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// detached returns the descriptor of a copy of the mount at a path, with attributes, attached nowhere yet. With how
// AT_RECURSIVE it includes the mounts below.
func detached(path string, how uint, attributes uint64) (int, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|how)
	if err == nil {
		if err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|how&unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attributes}); err == nil {
			return fd, nil
		}
		unix.Close(fd)
	}
	return -1, fmt.Errorf("take %s (Linux 5.12): %w", path, err)
}
