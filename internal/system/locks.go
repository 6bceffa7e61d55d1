package system

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/gofrs/flock"
)

// Unlockable reports whether an error of taking a lock says that the file system has no locks, like NFS without its lock
// service and Lustre without the option flock.
func Unlockable(err error) bool {
	return errors.Is(err, syscall.ENOLCK) || errors.Is(err, errors.ErrUnsupported)
}

// LockError explains an error of taking the lock at a path; instead says how to put the lock elsewhere.
func LockError(err error, path, instead string) error {
	switch {
	case err == nil:
		return nil
	case Unlockable(err):
		return fmt.Errorf("the file system of %s has no file locks, such as NFS without its lock service (%w): %s", filepath.Dir(path), err, instead)
	}
	return fmt.Errorf("lock %s: %w", path, err)
}

// LocalLocks says, by the kind and options of a file system, that other machines that mount it do not see its file locks
// (flock); "" if they do, or if that is not known. docs/operations.md has the sources.
func LocalLocks(kind, options string) string {
	const unseen = "with file locks that other machines do not see"
	by := func(names ...string) string {
		for o := range strings.SplitSeq(options, ",") {
			if slices.Contains(names, o) {
				return unseen + " (" + o + ")"
			}
		}
		return ""
	}
	switch kind {
	case "nfs", "nfs4":
		return by("nolock", "local_lock=flock", "local_lock=all")
	case "lustre":
		if by("flock", "localflock") == "" {
			return "without file locks (no option flock)"
		}
		return by("localflock")
	case "cifs", "smb3":
		return by("nobrl")
	}
	if strings.HasPrefix(kind, "fuse.") || slices.Contains([]string{"gpfs", "beegfs", "9p"}, kind) {
		return unseen + ", unless that was switched on"
	}
	return ""
}

var writing sync.Mutex // within this process; a file lock is for other processes

// Exclusively runs do while no other process does so for the same path. The lock is a hidden file ".NAME.lock" beside
// the path; it stays, since removing it would let two processes in. If the file system has no locks and two processes
// write at the same moment, what one of them writes may be lost.
func Exclusively(path string, do func() error) error {
	writing.Lock()
	defer writing.Unlock()
	dir, name := filepath.Split(path)
	if err := os.MkdirAll(filepath.Clean(dir), 0o755); err != nil {
		return err
	}
	l := flock.New(filepath.Join(dir, "."+name+".lock"))
	if err := l.Lock(); err != nil && !Unlockable(err) {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	return errors.Join(do(), l.Close())
}
