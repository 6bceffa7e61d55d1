//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redsi/redsi/internal/system/lists"
)

// inNamespace is set for a harness with a mount namespace of its own: its mounts are invisible elsewhere, and end with it.
const inNamespace = "REDSI_CHAOS_MOUNTS"

// smallDisk mounts a file system of that many bytes on a folder.
func smallDisk(dir string, bytes int64) (undo func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := unix.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=755", bytes)); err != nil {
		return nil, fmt.Errorf("mount a small disk: %w", err)
	}
	return func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }, nil
}

// full takes all space of the round's small disk for a while; a MinIO there notices a second later that it is free.
func full(r *round, c choice) error {
	f, err := os.CreateTemp(r.path(r.fault.small), "filler-")
	if err != nil {
		return err
	}
	block := make([]byte, 1<<16)
	for len(block) > 0 && err == nil {
		if _, err = f.Write(block); errors.Is(err, syscall.ENOSPC) {
			block, err = block[:len(block)/2], nil
		}
	}
	if err == nil {
		r.hold(c)
	}
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil || r.minio == nil {
		return err
	}
	ctx := context.Background()
	store, _ := r.store(ctx)
	eventually(r.slack(recovery), func() bool { err = store.Leases.Put(ctx, "full", nil); return err == nil })
	return errors.Join(err, store.Leases.Delete(ctx, "full"))
}

// readOnly makes the round's small disk read-only for a while. Files that are open stay writable.
func readOnly(r *round, c choice) error {
	dir := r.path(r.fault.small)
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s on itself: %w", dir, err)
	}
	defer func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }()
	if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("mount %s read-only: %w", dir, err)
	}
	r.hold(c)
	return nil
}

// jump gives all files of the round's state and temporary folders times more than a year ago, or ahead, as a clock
// that was set leaves behind. The clock itself is the machine's and cannot be set for one process.
func jump(r *round, c choice) error {
	at := time.Now().AddDate(0, 0, 400-800*(c.N%2))
	for _, dir := range []string{r.path(".redsi"), r.path("tmp")} {
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				_ = os.Chtimes(path, at, at) // it may be gone
			}
			return nil
		})
	}
	return nil
}

// few leaves a role's processes, and with a server the run, little room for open files or addresses for a while.
func few(role string, what int, has func(pid int) uint64, room func(choice) uint64) func(*round, choice) error {
	return func(r *round, c choice) error {
		pids := lists.Map(r.victims(role), func(f found) int { return f.PID })
		if role == roleServer {
			pids = append(pids, r.cli.pid())
		}
		for _, pid := range pids {
			var old unix.Rlimit
			if unix.Prlimit(pid, what, nil, &old) != nil {
				continue // it has ended
			}
			now := old
			now.Cur = min(has(pid)+room(c), old.Max)
			_ = unix.Prlimit(pid, what, &now, nil)
			defer func() { _ = unix.Prlimit(pid, what, &old, nil) }()
		}
		r.hold(c)
		return nil
	}
}

// openFiles counts the open files of a process.
func openFiles(pid int) uint64 {
	return uint64(len(within("/proc", strconv.Itoa(pid)+"/fd/*")))
}

// addresses returns the bytes of a process's address space.
func addresses(pid int) uint64 {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	first, _, _ := strings.Cut(string(b), " ")
	pages, _ := strconv.ParseUint(first, 10, 64) // 0 if the process has ended
	return pages * uint64(os.Getpagesize())
}
