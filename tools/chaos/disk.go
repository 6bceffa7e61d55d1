//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// inNamespace is set in the environment of a harness that may mount.
const inNamespace = "REDSI_CHAOS_MOUNTS"

// ownMounts runs this program again in mount names of its own, where what it
// mounts is seen by nobody else and gone with it. It returns only if that cannot
// be done, or here is it already; mounts then says which.
func ownMounts() (mounts bool, exit func()) {
	if os.Getenv(inNamespace) != "" {
		return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") == nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return false, nil
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGTERM}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	if err := cmd.Start(); err != nil {
		return false, nil
	}
	return false, func() {
		forward(cmd.Process)
		err := cmd.Wait()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			os.Exit(max(1, exit.ExitCode()))
		}
		os.Exit(0)
	}
}

// smallDisk mounts a file system of so many bytes on a folder.
func smallDisk(dir string, bytes int64) (undo func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := unix.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=755", bytes)); err != nil {
		return nil, fmt.Errorf("mount a small disk: %w", err)
	}
	return func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }, nil
}

// fill takes all space that is left on a folder's disk.
func fill(dir string) (undo func(), err error) {
	f, err := os.CreateTemp(dir, "filler-")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	undo = func() { os.Remove(f.Name()) }
	block := make([]byte, 1<<16)
	for len(block) > 0 {
		if _, err = f.Write(block); errors.Is(err, syscall.ENOSPC) {
			block = block[:len(block)/2]
		} else if err != nil {
			undo()
			return nil, err
		}
	}
	return undo, nil
}

// full has no space on the round's small disk for a while. A MinIO there takes a second to see that there is some again.
func full(r *round, c choice) error {
	err := undone(func(r *round, _ choice) (func(), error) { return fill(r.path(r.plan.fault.small)) })(r, c)
	if err != nil || r.minio == nil {
		return err
	}
	ctx := context.Background()
	store, _ := r.store(ctx)
	eventually(r.slack(recovery), func() bool { err = store.Leases.Put(ctx, "full", nil); return err == nil })
	return errors.Join(err, store.Leases.Delete(ctx, "full"))
}

// readOnly makes a folder one that nothing can be created or opened for writing
// in. Files that are open stay so.
func readOnly(dir string) (undo func(), err error) {
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		return nil, fmt.Errorf("mount %s on itself: %w", dir, err)
	}
	undo = func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }
	if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		undo()
		return nil, fmt.Errorf("mount %s read-only: %w", dir, err)
	}
	return undo, nil
}

// jump gives all files of the round's state and temporary folders times of a year
// and more ago, or to come: what a clock that was set leaves behind. The clock
// itself is the machine's and cannot be set for one process.
func jump(r *round, c choice) error {
	days := 400
	if c.N%2 == 0 {
		days = -days
	}
	at := time.Now().AddDate(0, 0, days)
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

// limitFiles leaves a process room for few more open files than it has.
func limitFiles(pid int, room int) (undo func(), err error) {
	open, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
	if err != nil {
		return nil, err
	}
	return limit(pid, unix.RLIMIT_NOFILE, uint64(len(open)+room))
}

// limitMemory leaves a process so many more bytes of addresses than it has.
func limitMemory(pid int, room uint64) (undo func(), err error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		return nil, err
	}
	pages, err := strconv.ParseUint(strings.Fields(string(b))[0], 10, 64)
	if err != nil {
		return nil, err
	}
	return limit(pid, unix.RLIMIT_AS, pages*uint64(os.Getpagesize())+room)
}

func limit(pid, what int, n uint64) (undo func(), err error) {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, what, nil, &old); err != nil {
		return nil, err
	}
	now := old
	now.Cur = min(n, old.Max)
	if err := unix.Prlimit(pid, what, &now, nil); err != nil {
		return nil, err
	}
	return func() { _ = unix.Prlimit(pid, what, &old, nil) }, nil
}
