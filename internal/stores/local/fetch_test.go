package local_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

func fetched(t *testing.T, s artifacts.Store, d artifacts.Digest, cache string) string {
	t.Helper()
	path, err := local.Fetch(t.Context(), s.Blobs, d, cache)
	testkit.None(t, err)
	return path
}

// overwrite changes a file's bytes in place, as a failing disk or a careless
// program does.
func overwrite(t *testing.T, path string, b []byte) {
	t.Helper()
	testkit.None(t, os.Chmod(path, 0o644))
	testkit.Write(t, path, b)
}

func TestFetchRemote(t *testing.T) {
	base := mem.New()
	s, faults := storetest.Faulty(base)
	cache := filepath.Join(t.TempDir(), "cache")
	want := storetest.Bytes(1, 100_000)
	d := storetest.Put(t, base, want)

	for range 3 {
		path := fetched(t, s, d, cache)
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %d bytes, %v", path, len(got), err)
		}
	}
	testkit.Is(t, faults.Calls(storetest.BlobsOpen), 1, "read from the store times once")
	bad := bytes.Clone(want)
	bad[7] ^= 1
	overwrite(t, fetched(t, s, d, cache), bad)
	if got, err := os.ReadFile(fetched(t, s, d, cache)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("a changed copy was not fetched anew: %v", err)
	}
	if _, err := local.Fetch(t.Context(), s.Blobs, artifacts.Sum([]byte("no")), cache); !errors.Is(err, artifacts.ErrNotExist) {
		t.Errorf("fetch what is not there: %v", err)
	}
}

// TestFetchFails checks that no failed fetch leaves a file that a later one returns.
func TestFetchFails(t *testing.T) {
	base := mem.New()
	s, faults := storetest.Faulty(base)
	cache := t.TempDir()
	want := storetest.Bytes(2, 50_000)
	d := storetest.Put(t, base, want)
	var bad *artifacts.IntegrityError
	for _, f := range []storetest.Fault{{Torn: 1000}, {Flip: true, FlipAt: 49_999}} {
		faults.Add(storetest.BlobsOpen, f)
		if path, err := local.Fetch(t.Context(), s.Blobs, d, cache); !errors.As(err, &bad) || path != "" {
			t.Errorf("%+v: %q, %v; want an IntegrityError", f, path, err)
		}
	}
	left, err := os.ReadDir(filepath.Join(cache, "blobs"))
	testkit.None(t, err, "left in the cache", left)
	testkit.Is(t, len(left), 0, "left in the cache", left)
	if got, err := os.ReadFile(fetched(t, s, d, cache)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("afterwards: %v", err)
	}
}

func TestFetchLocal(t *testing.T) {
	root := t.TempDir()
	s, err := dir.Open(root)
	testkit.None(t, err)
	cache := t.TempDir()
	want := storetest.Bytes(3, 10_000)
	d := storetest.Put(t, s, want)
	path := fetched(t, s, d, cache)
	if !strings.HasPrefix(path, root) {
		t.Errorf("a local blob was copied to %s", path)
	}
	// The note spares the second hash; a change of the file's bytes, even with
	// size and time of change kept, makes it void.
	info, err := os.Stat(path)
	testkit.None(t, err)
	bad := bytes.Clone(want)
	bad[5000] ^= 1
	overwrite(t, path, bad)
	testkit.None(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	var corrupt *artifacts.IntegrityError
	if _, err := local.Fetch(t.Context(), s.Blobs, d, cache); !errors.As(err, &corrupt) {
		t.Errorf("a changed blob: %v; want an IntegrityError", err)
	}
	storetest.Put(t, s, want) // the producer runs again
	if got, err := os.ReadFile(fetched(t, s, d, cache)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("after the repair: %v", err)
	}
}

// TestFetchTrimmed: a copy that another process drops while it is looked at is fetched anew.
// A link to nothing is there when it is looked for, and gone when it is opened.
func TestFetchTrimmed(t *testing.T) {
	s, cache := mem.New(), t.TempDir()
	want := storetest.Bytes(4, 1000)
	d := storetest.Put(t, s, want)
	path := fetched(t, s, d, cache)
	testkit.None(t, errors.Join(os.Remove(path), os.Symlink("gone", path)))
	if got, err := os.ReadFile(fetched(t, s, d, cache)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestNotesOfLocal: notes about files of the store itself go when nobody has asked for those
// for long, a few with each new note.
func TestNotesOfLocal(t *testing.T) {
	s, err := dir.Open(t.TempDir())
	testkit.None(t, err)
	cache := t.TempDir()
	d := storetest.Put(t, s, []byte("new"))
	near, far := d, d // whose notes are looked at with that of d, and are not
	near[31] ^= 1
	young, copied := near, near
	young[31], copied[31] = d[31]^2, d[31]^3
	far[0] ^= 1
	note := func(d artifacts.Digest) string { return filepath.Join(cache, "verified", d.Hex()+".json") }
	testkit.None(t, os.MkdirAll(filepath.Join(cache, "blobs"), 0o755))
	testkit.None(t, os.MkdirAll(filepath.Join(cache, "verified"), 0o755))
	for d, age := range map[artifacts.Digest]time.Duration{near: 1000, young: 1, copied: 1000, far: 1000} {
		used := time.Now().Add(-age * time.Hour)
		testkit.None(t, errors.Join(os.WriteFile(note(d), []byte("{}"), 0o600), os.Chtimes(note(d), used, used)))
	}
	testkit.None(t, os.WriteFile(filepath.Join(cache, "blobs", copied.Hex()), nil, 0o600))
	fetched(t, s, d, cache)
	for d, want := range map[artifacts.Digest]bool{near: false, young: true, copied: true, far: true, d: true} {
		if _, err := os.Stat(note(d)); (err == nil) != want {
			t.Errorf("note of %s: %v, want it kept: %v", d, err, want)
		}
	}
}

func TestWriteFiles(t *testing.T) {
	ctx := t.Context()
	folder := t.TempDir()
	s, err := dir.Open(filepath.Join(folder, "store"))
	testkit.None(t, err)
	var files []artifacts.File
	for _, name := range []string{"a", "sub/b"} {
		d := storetest.Put(t, s, []byte("of "+name))
		files = append(files, artifacts.File{Name: name, Digest: d, Size: 5})
	}
	only := func(dir string, want ...string) {
		t.Helper()
		var have []string
		if err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				rel, _ := filepath.Rel(dir, p)
				have = append(have, filepath.ToSlash(rel))
			}
			return err
		}); err != nil || strings.Join(have, " ") != strings.Join(want, " ") {
			t.Errorf("%s has %v, %v; want %v", dir, have, err, want)
		}
	}

	out := filepath.Join(folder, "new", "out")
	var n int64
	if err := local.WriteFiles(ctx, s.Blobs, files[:1], out, false, func(k int64) { n += k }); err != nil || n != 4 {
		t.Fatal(n, err)
	}
	only(out, "a")
	only(filepath.Dir(out), "out/a")
	if err := os.WriteFile(filepath.Join(out, "a"), []byte("mine now"), 0o600); err != nil { // a copy of its own
		t.Fatal(err)
	}
	if b, err := artifacts.ReadBlob(ctx, s.Blobs, files[0].Digest, 100); err != nil || string(b) != "of a" {
		t.Errorf("%q, %v", b, err)
	}

	var full *local.NotEmptyError
	if err := local.WriteFiles(ctx, s.Blobs, files, out, false, nil); !errors.As(err, &full) {
		t.Errorf("%v", err)
	}
	testkit.None(t, os.WriteFile(filepath.Join(out, "other"), nil, 0o600))
	testkit.None(t, local.WriteFiles(ctx, s.Blobs, files, out, true, nil))
	only(out, "a", "other", "sub/b")
	if b, err := os.ReadFile(filepath.Join(out, "a")); err != nil || string(b) != "of a" {
		t.Errorf("%q, %v", b, err)
	}

	// A blob that is damaged leaves nothing, and what was there stays.
	lost, _ := s.Blobs.(artifacts.Local).LocalPath(files[1].Digest)
	testkit.None(t, os.Chmod(lost, 0o600))
	testkit.None(t, os.WriteFile(lost, []byte("of c!"), 0o600))
	var bad *artifacts.IntegrityError
	for _, into := range []bool{false, true} {
		half := filepath.Join(folder, "half")
		if into {
			half = out
		}
		if err := local.WriteFiles(ctx, s.Blobs, files, half, into, nil); !errors.As(err, &bad) {
			t.Errorf("%v", err)
		}
	}
	only(out, "a", "other", "sub/b")
	testkit.ErrIs(t, testkit.Err(os.Stat(filepath.Join(folder, "half"))), fs.ErrNotExist)
	empty := t.TempDir()
	testkit.None(t, local.WriteFiles(ctx, s.Blobs, files[:1], empty, false, nil))
	only(empty, "a")
}

// TestWriteModes: x bits, links and empty folders come out as they went in, into a new folder
// and over an old one; a link that leads out is refused, and nothing is left.
func TestWriteModes(t *testing.T) {
	ctx := t.Context()
	folder := t.TempDir()
	s, err := dir.Open(filepath.Join(folder, "store"))
	testkit.None(t, err)
	d := storetest.Put(t, s, []byte("text"))
	if _, err := artifacts.PutBytes(ctx, s.Blobs, nil); err != nil { // as a result with such a tree has it
		t.Fatal(err)
	}
	files := []artifacts.File{{Name: "sub/run", Digest: d, Size: 4, Mode: artifacts.Executable}, {Name: "l", Digest: d, Size: 4, Mode: artifacts.Link, Link: "sub/run"},
		{Name: "sub/up", Digest: artifacts.Empty, Mode: artifacts.Link, Link: ".."}, {Name: "empty", Digest: artifacts.Empty, Mode: artifacts.Folder}}
	out := filepath.Join(folder, "out")
	for _, into := range []bool{false, true, true} {
		testkit.None(t, local.WriteFiles(ctx, s.Blobs, files, out, into, nil))
		run, err1 := os.Stat(filepath.Join(out, "sub/run"))
		empty, err2 := os.ReadDir(filepath.Join(out, "empty"))
		to, err3 := os.Readlink(filepath.Join(out, "l"))
		up, err4 := os.Readlink(filepath.Join(out, "sub/up"))
		if err := errors.Join(err1, err2, err3, err4); err != nil || run.Mode()&0o111 == 0 || to != "sub/run" || up != ".." {
			t.Fatalf("into %v: %v, %v, %q, %q", into, run, err, to, up)
		}
		if into && len(empty) != 1 || !into && len(empty) != 0 {
			t.Errorf("into %v: the empty folder has %d files", into, len(empty))
		}
		if err := os.WriteFile(filepath.Join(out, "empty", "mine"), nil, 0o644); err != nil { // it stays
			t.Fatal(err)
		}
	}
	for _, target := range []string{"../x", "/etc/passwd", "sub/../../x"} {
		bad := filepath.Join(folder, "bad")
		err := local.WriteFiles(ctx, s.Blobs, []artifacts.File{{Name: "l", Digest: d, Size: 4, Mode: artifacts.Link, Link: target}}, bad, false, nil)
		if _, left := os.Lstat(bad); err == nil || !errors.Is(left, fs.ErrNotExist) {
			t.Errorf("%s: %v, %v", target, err, left)
		}
	}
	// A link of the folder that is written into leads nobody out of it.
	testkit.None(t, os.Symlink(folder, filepath.Join(out, "away")))
	if err := local.WriteFiles(ctx, s.Blobs, []artifacts.File{{Name: "away/x", Digest: d, Size: 4}}, out, true, nil); err == nil {
		t.Error("a file was written through a link")
	}
}
