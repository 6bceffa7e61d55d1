package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// doneFile marks a part's folder as complete; the Makefile tests for it.
const doneFile = "done"

// partPlace is where a builder works.
type partPlace struct {
	// new is the empty folder to fill; it becomes the part's folder, dir.
	new, dir string
	// downloads outlives a failed or killed run, so that the next run can continue.
	downloads string
	// locks are the part's lock and the builder's others, which its commands inherit: a lock ends with the last of them,
	// so that no two runs work in one folder, not even when this process is killed and its commands go on.
	locks []*os.File
}

// sibling returns the folder of another part of the same version and platform.
func (p partPlace) sibling(part string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(p.dir)), part, filepath.Base(p.dir))
}

// builder fills p.new or fails; the caller removes the remains of a failure.
type builder func(ctx context.Context, p partPlace, show *progress) error

// install installs the part in dir (DEPS/PART/VERSION-PLATFORM), unless it is there. It waits for another process that
// installs the same part.
func install(ctx context.Context, name, dir string, show *progress, build builder) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	parent, base := filepath.Split(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	held, err := lock(ctx, filepath.Join(parent, "."+base+".lock"), show)
	show.end()
	if err != nil {
		return err
	}
	defer held.Close()
	if complete(dir) {
		return nil
	}

	place := partPlace{new: filepath.Join(parent, "."+base+".new"), dir: dir,
		downloads: filepath.Join(filepath.Dir(filepath.Clean(parent)), "downloads"), locks: []*os.File{held}}
	// Both are remains of an interrupted run: this process holds the part's lock.
	if err := errors.Join(os.RemoveAll(place.new), os.RemoveAll(dir)); err != nil {
		return err
	}
	if err := os.MkdirAll(place.new, 0o755); err != nil {
		return err
	}
	start := time.Now()
	if err := build(ctx, place, show); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", name, err), os.RemoveAll(place.new))
	}
	took := time.Since(start).Round(100 * time.Millisecond)
	note := fmt.Sprintf("%s installed in %s\n", base, took)
	if err := os.WriteFile(filepath.Join(place.new, doneFile), []byte(note), 0o644); err != nil {
		return err
	}
	// The rename must not reach the disk before what it names.
	show.during("writing it to the disk", func() error { syscall.Sync(); return nil })
	if err := os.Rename(place.new, dir); err != nil {
		return err
	}
	show.line("ready in %s: %s", took, dir)
	return nil
}

func complete(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, doneFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// lock takes the lock of a file, waiting for its holder; closing the file frees it. The file itself stays: removing it
// would let two processes lock two files of one name.
func lock(ctx context.Context, path string, show *progress) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if !told {
			show.line("waiting for another process that installs it")
		}
		show.state("waiting for another process that installs it")
		select {
		case <-ctx.Done():
			file.Close()
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}
