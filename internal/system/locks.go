package system

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
)

// Unlockable reports whether an error of taking a lock says that the file system has none, as
// NFS without its lock service and Lustre without the option flock.
func Unlockable(err error) bool {
	return errors.Is(err, syscall.ENOLCK) || errors.Is(err, errors.ErrUnsupported)
}

// LockError explains an error of taking the lock at a path; instead says what puts it elsewhere.
func LockError(err error, path, instead string) error {
	switch {
	case err == nil:
		return nil
	case Unlockable(err):
		return fmt.Errorf("the file system of %s has no file locks, such as NFS without its lock service (%w): %s", filepath.Dir(path), err, instead)
	}
	return fmt.Errorf("lock %s: %w", path, err)
}
