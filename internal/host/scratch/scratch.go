// Package scratch creates the folders in which steps work, so that none outlives its process for long: each process has
// its own place, locked while it lives, and the next ends the programs and removes the folders of processes that died.
//
// It owns folders and the record of what runs in them. It must not know what a step is.
package scratch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/process"
)

// What lies in a place, beside the folders.
const (
	ownerFile     = "owner"    // locked by the owner as long as it lives
	programSuffix = ".program" // beside a folder: the leader of the process group that works in it
)

// Area is this process's place for folders. It is safe for concurrent use.
type Area struct {
	root string // of all processes of this user

	mu       sync.Mutex
	place    string // "" until the first folder
	owner    *flock.Flock
	programs map[string]process.Identity
}

// In returns the area in a folder that all processes of a user share, usually DefaultRoot. It creates nothing before the
// first New.
func In(root string) *Area { return &Area{root: root, programs: map[string]process.Identity{}} }

// DefaultRoot returns the folder in which this user's steps work, in TMPDIR.
func DefaultRoot() string { return filepath.Join(os.TempDir(), fmt.Sprintf("redsi-%d", os.Getuid())) }

// New creates an empty folder, and returns its path without symbolic links.
func (a *Area) New() (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.place == "" {
		if err := a.open(); err != nil {
			return "", fmt.Errorf("make a folder for a step: %w", err)
		}
	}
	return os.MkdirTemp(a.place, "step-")
}

// open creates this process's place. Nobody sweeps meanwhile: with an unlocked owner, it counts as a dead process's.
func (a *Area) open() error {
	root, err := openRoot(a.root)
	if err != nil {
		return err
	}
	unlock, err := lock(root)
	if err != nil {
		return err
	}
	defer unlock()
	me, err := process.Self()
	if err != nil {
		return err
	}
	place, err := os.MkdirTemp(root, fmt.Sprintf("%d-", me.PID))
	if err != nil {
		return err
	}
	owner := flock.New(filepath.Join(place, ownerFile))
	b, err := json.Marshal(me)
	if err == nil {
		err = errors.Join(owner.Lock(), os.WriteFile(owner.Path(), b, 0o600))
	}
	if err != nil {
		return errors.Join(err, owner.Close(), os.RemoveAll(place))
	}
	a.place, a.owner = place, owner
	return nil
}

// Runs records that pid leads the group of a program in a folder of New, to be ended if this process dies before.
func (a *Area) Runs(dir string, pid int) error {
	id, err := process.Of(pid)
	gone := errors.Is(err, process.ErrGone) // but what it has started may run
	if err != nil && !gone {
		return err
	}
	b, err := json.Marshal(id)
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.programs[dir] = id
	a.mu.Unlock()
	if gone {
		return nil
	}
	return os.WriteFile(dir+programSuffix, b, 0o600)
}

// Ended ends what a program left running, and forgets the program.
func (a *Area) Ended(dir string) error {
	a.mu.Lock()
	id, ok := a.programs[dir]
	delete(a.programs, dir)
	a.mu.Unlock()
	if !ok {
		return nil // it did not start
	}
	_, err := endProgram(dir, id)
	for _, beside := range []string{programSuffix, ContainerSuffix} {
		if rerr := os.Remove(dir + beside); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// Discard removes a folder of New.
func (a *Area) Discard(dir string) error { return removeAll(dir) }

// EndPrograms ends what runs in the folders, for a process that leaves without waiting. The folders, and processes that
// left their groups, are left to the next process.
func (a *Area) EndPrograms() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range a.programs {
		_ = id.EndGroup()
	}
}

// Close removes this process's place if no folder is left in it.
func (a *Area) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.place == "" {
		return nil
	}
	left, err := folders(a.place)
	switch {
	case errors.Is(err, fs.ErrNotExist): // somebody cleaned up
		err = nil
	case err == nil && len(left) == 0:
		err = os.RemoveAll(a.place)
	}
	err = errors.Join(err, a.owner.Close())
	a.place, a.owner = "", nil
	return err
}

// openRoot creates the root if need be and returns its real path. A root that others can write to is refused: they could
// have this user's files removed.
func openRoot(root string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(root), 0o755); err != nil {
		return "", err
	}
	if err := os.Mkdir(root, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(root)
	if err != nil {
		return "", err
	}
	if err := system.Private(info); err != nil {
		return "", fmt.Errorf("%s %w: remove it, or name another folder with TMPDIR", root, err)
	}
	return filepath.EvalSymlinks(root)
}

// lock keeps out other processes that create or claim places below root.
func lock(root string) (unlock func() error, err error) {
	l := flock.New(filepath.Join(root, "lock"))
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = l.Lock()
	}
	return l.Close, system.LockError(err, l.Path(), "name a folder of another one with TMPDIR")
}

// removeAll removes a folder, also if its owner took away the right to.
func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700) // before its entries are read
		}
		return nil
	})
	return os.RemoveAll(dir)
}
