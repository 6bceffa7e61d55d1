package dir_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// taking is a store with a folder beside it, on the same file system.
func taking(t *testing.T) (s artifacts.Store, local artifacts.Local, folder, root string) {
	t.Helper()
	root = t.TempDir()
	s, err := dir.Open(filepath.Join(root, "store"))
	testkit.None(t, err)
	folder = filepath.Join(root, "out")
	testkit.None(t, os.Mkdir(folder, 0o755))
	return s, s.Blobs.(artifacts.Local), folder, root
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Stat(path)
	testkit.None(t, err)
	return info.Sys().(*syscall.Stat_t).Ino
}

// TestTake: a file becomes the blob's if nobody else can change it; else the blob is another file. Either
// way it has the bytes, is read-only, and nothing is left behind.
func TestTake(t *testing.T) {
	want := storetest.Bytes(1, 300_000)
	for name, c := range map[string]struct {
		mode  os.FileMode
		with  func(t *testing.T, path string)
		moved bool
	}{
		"plain":      {0o644, func(*testing.T, string) {}, true},
		"executable": {0o755, func(*testing.T, string) {}, true},
		"read-only":  {0o444, func(*testing.T, string) {}, true},
		"an old time": {0o644, func(t *testing.T, path string) {
			testkit.None(t, os.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0)))
		}, true},
		"open for reading": {0o644, func(t *testing.T, path string) { opened(t, path, os.O_RDONLY) }, true},
		"open for writing": {0o644, func(t *testing.T, path string) { opened(t, path, os.O_WRONLY) }, false},
		"mapped for writing": {0o644, func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			testkit.None(t, err)
			defer f.Close()
			m, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
			testkit.None(t, err)
			t.Cleanup(func() { _ = syscall.Munmap(m) })
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, local, folder, root := taking(t)
			path := filepath.Join(folder, "f")
			testkit.None(t, errors.Join(os.WriteFile(path, want, 0o600), os.Chmod(path, c.mode)))
			c.with(t, path)
			was := inode(t, path)
			for range 2 { // equal outputs come twice
				d, n, err := local.Take(t.Context(), path)
				if err != nil || d != artifacts.Sum(want) || n != int64(len(want)) {
					t.Fatalf("Take = %s, %d, %v", d, n, err)
				}
				testkit.ErrIs(t, testkit.Err(os.Lstat(path)), os.ErrNotExist, "the file is still there")
				blob, _ := local.LocalPath(d)
				testkit.Is(t, c.moved, (inode(t, blob) == was), "moved", !c.moved)
				info, err := os.Stat(blob)
				if err != nil || info.Mode() != 0o444 || time.Since(info.ModTime()) > time.Hour || info.Sys().(*syscall.Stat_t).Nlink != 1 {
					t.Errorf("the blob is %v of %v, %v", info.Mode(), info.ModTime(), err)
				}
				if b, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, 1<<20); err != nil || !bytes.Equal(b, want) {
					t.Errorf("%d other bytes, %v", len(b), err)
				}
				testkit.Write(t, path, want)
				was = inode(t, path)
				c.moved = true // nothing is the matter with this one
			}
			if left, _ := filepath.Glob(filepath.Join(root, "store", "tmp", "*")); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

func opened(t *testing.T, path string, flag int) {
	t.Helper()
	f, err := os.OpenFile(path, flag, 0)
	testkit.None(t, err)
	t.Cleanup(func() { f.Close() })
}

// TestTakeNot: what cannot be taken stays, for Put; what is broken off leaves nothing in the store.
func TestTakeNot(t *testing.T) {
	s, local, folder, root := taking(t)
	small, link, gone := filepath.Join(folder, "small"), filepath.Join(folder, "link"), filepath.Join(folder, "gone")
	testkit.None(t, errors.Join(os.WriteFile(small, []byte("x"), 0o644), os.Symlink("small", link)))
	named, other := filepath.Join(folder, "named"), filepath.Join(folder, "other")
	testkit.None(t, errors.Join(os.WriteFile(named, storetest.Bytes(2, 300_000), 0o644), os.Link(named, other)))
	paths := []string{small, link, gone, named}
	if shm, err := os.MkdirTemp("/dev/shm", "redsi-test-*"); err == nil { // another file system, on most machines
		t.Cleanup(func() { os.RemoveAll(shm) })
		elsewhere := filepath.Join(shm, "f")
		testkit.Write(t, elsewhere, storetest.Bytes(2, 300_000))
		paths = append(paths, elsewhere)
	}
	for _, path := range paths {
		before, _ := os.Lstat(path)
		_, _, err := local.Take(t.Context(), path)
		testkit.ErrIs(t, err, errors.ErrUnsupported, path)
		if after, _ := os.Lstat(path); before != nil && (!os.SameFile(before, after) || path == named && before.ModTime() != after.ModTime()) {
			t.Errorf("%s is another", path)
		}
	}
	large := filepath.Join(folder, "large")
	testkit.Write(t, large, storetest.Bytes(3, 300_000))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := local.Take(ctx, large); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for range s.Blobs.List(t.Context()) {
		t.Error("a blob is there")
	}
	if left, _ := filepath.Glob(filepath.Join(root, "store", "tmp", "*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
