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

	"github.com/redsi/redsi/internal/system/testkit"
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
	testkit.ErrIs(t, err, broken)
	testkit.ErrSays(t, err, "part: ")
	testkit.Is(t, list(t, filepath.Dir(dir)), ".1-linux.lock", "left behind")
}

// A run that was killed leaves its working folder, or a part's folder without a done file.
func TestInstallAfterAKill(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "part")
	dir := filepath.Join(parent, "1-linux")
	for _, left := range []string{filepath.Join(parent, ".1-linux.new"), dir} {
		testkit.Write(t, filepath.Join(left, "stale"), "")
	}
	testkit.None(t, install(t.Context(), "part", dir, quiet(), writeFile("new")))
	testkit.Is(t, list(t, dir), "done file", "the part holds")
	testkit.Is(t, list(t, parent), ".1-linux.lock 1-linux", "beside the part")
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
	testkit.Is(t, builds.Load(), 1, "builds")
	testkit.Is(t, testkit.Text(t, filepath.Join(dir, "file")), "x")
}

func TestWaitingForTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held := testkit.Value(lock(t.Context(), path, quiet()))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	testkit.ErrIs(t, testkit.Err(lock(ctx, path, newBoard(&out).part("part"))), context.Canceled)
	testkit.Says(t, out.String(), "part: waiting for another process")
	held.Close() // as the system does when the holder dies
	again := testkit.Value(lock(t.Context(), path, quiet()))(t)
	again.Close()
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"libtorch"}, {"other=dir"}, {"gotch="}, {"tokenizers=dir", "more"}, {"-jobs", "0", "gotch=dir"}, {"show", "name"}} {
		testkit.ErrSays(t, run(t.Context(), args, io.Discard), "usage: deps [options] PART=DIR")
	}
}

func TestGotch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gotch", "1-linux")
	testkit.None(t, run(t.Context(), []string{"-header", "../native/gotch-libtorch211.h", "gotch=" + dir}, io.Discard))
	testkit.Is(t, list(t, dir), "done gotch-libtorch211.h quick.specs stubs", "the part holds")
	testkit.Is(t, testkit.Text(t, filepath.Join(dir, "stubs", "libtorch_cuda.a")), "!<arch>\n", "a stub archive holds")
}

// list returns a folder's names, sorted, with blanks between.
func list(t *testing.T, dir string) string {
	t.Helper()
	entries := testkit.Value(os.ReadDir(dir))(t)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}
