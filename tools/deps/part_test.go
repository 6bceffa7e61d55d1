package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/internal/system/valuetest"
)

// writeFile is a builder of one file.
func writeFile(text string) builder {
	return func(_ context.Context, p partPlace, _ *progress) error {
		return os.WriteFile(filepath.Join(p.new, "file"), []byte(text), 0o644)
	}
}

func quiet() *progress { return newBoard(io.Discard).part("part") }

func TestInstallFailureLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "part", "1-linux")
	broken := errors.New("no space left")
	err := install(t.Context(), "part", dir, quiet(), func(ctx context.Context, p partPlace, show *progress) error {
		return errors.Join(writeFile("half")(ctx, p, show), broken)
	})
	errtest.Is(t, err, broken)
	errtest.Says(t, err, "part: ")
	valuetest.Is(t, list(t, filepath.Dir(dir)), ".1-linux.lock", "left behind")
}

// A run that was killed leaves its working folder, or a part's folder without a done file.
func TestInstallAfterAKill(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "part")
	dir := filepath.Join(parent, "1-linux")
	for _, left := range []string{filepath.Join(parent, ".1-linux.new"), dir} {
		filetest.Write(t, filepath.Join(left, "stale"), "")
	}
	errtest.None(t, install(t.Context(), "part", dir, quiet(), writeFile("new")))
	valuetest.Is(t, list(t, dir), "done file", "the part holds")
	valuetest.Is(t, list(t, parent), ".1-linux.lock 1-linux", "beside the part")
}

func TestInstallConcurrently(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "part", "1-linux")
	var builds, inside atomic.Int32
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			err := install(t.Context(), "part", dir, quiet(), func(ctx context.Context, p partPlace, show *progress) error {
				builds.Add(1)
				if inside.Add(1) > 1 {
					t.Error("two builders at once")
				}
				defer inside.Add(-1)
				return writeFile("x")(ctx, p, show)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	valuetest.Is(t, builds.Load(), 1, "builds")
	valuetest.Is(t, filetest.Text(t, filepath.Join(dir, "file")), "x")
}

func TestWaitingForTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held := errtest.Value(lock(t.Context(), path, quiet()))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	errtest.Is(t, errtest.Of(lock(ctx, path, newBoard(&out).part("part"))), context.Canceled)
	valuetest.Says(t, out.String(), "part: waiting for another process")
	held.Close() // as the system does when the holder dies
	again := errtest.Value(lock(t.Context(), path, quiet()))(t)
	again.Close()
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"libtorch"}, {"other=dir"}, {"gotch="}, {"tokenizers=dir", "more"}, {"-jobs", "0", "gotch=dir"}, {"show", "name"}} {
		errtest.Says(t, run(t.Context(), args, io.Discard), "usage: deps [options] PART=DIR")
	}
}

func TestGotch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gotch", "1-linux")
	errtest.None(t, run(t.Context(), []string{"-header", "../native/gotch-libtorch211.h", "gotch=" + dir}, io.Discard))
	valuetest.Is(t, list(t, dir), "done gotch-libtorch211.h quick.specs stubs", "the part holds")
	valuetest.Is(t, filetest.Text(t, filepath.Join(dir, "stubs", "libtorch_cuda.a")), "!<arch>\n", "a stub archive holds")
}

// list returns a folder's names, sorted, with blanks between.
func list(t *testing.T, dir string) string {
	t.Helper()
	entries := errtest.Value(os.ReadDir(dir))(t)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}
