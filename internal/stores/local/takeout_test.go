package local_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

func TestWriteFiles(t *testing.T) {
	ctx := t.Context()
	folder := t.TempDir()
	s, err := dir.Open(filepath.Join(folder, "store"))
	errtest.None(t, err)
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
	if err := os.WriteFile(filepath.Join(out, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := local.WriteFiles(ctx, s.Blobs, files, out, true, nil); err != nil {
		t.Error(err)
	}
	only(out, "a", "other", "sub/b")
	if b, err := os.ReadFile(filepath.Join(out, "a")); err != nil || string(b) != "of a" {
		t.Errorf("%q, %v", b, err)
	}

	// A blob that is damaged leaves nothing, and what was there stays.
	lost, _ := s.Blobs.(artifacts.Local).LocalPath(files[1].Digest)
	errtest.None(t, os.Chmod(lost, 0o600))
	if err := os.WriteFile(lost, []byte("of c!"), 0o600); err != nil {
		t.Fatal(err)
	}
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
	if _, err := os.Stat(filepath.Join(folder, "half")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	empty := t.TempDir()
	if err := local.WriteFiles(ctx, s.Blobs, files[:1], empty, false, nil); err != nil {
		t.Error(err)
	}
	only(empty, "a")
}

// TestWriteModes: x bits, links and empty folders come out as they went in, into a new folder
// and over an old one; a link that leads out is refused, and nothing is left.
func TestWriteModes(t *testing.T) {
	ctx := t.Context()
	folder := t.TempDir()
	s, err := dir.Open(filepath.Join(folder, "store"))
	errtest.None(t, err)
	d := storetest.Put(t, s, []byte("text"))
	if _, err := artifacts.PutBytes(ctx, s.Blobs, nil); err != nil { // as a result with such a tree has it
		t.Fatal(err)
	}
	files := []artifacts.File{{Name: "sub/run", Digest: d, Size: 4, Mode: artifacts.Executable}, {Name: "l", Digest: d, Size: 4, Mode: artifacts.Link, Link: "sub/run"},
		{Name: "sub/up", Digest: artifacts.Empty, Mode: artifacts.Link, Link: ".."}, {Name: "empty", Digest: artifacts.Empty, Mode: artifacts.Folder}}
	out := filepath.Join(folder, "out")
	for _, into := range []bool{false, true, true} {
		errtest.None(t, local.WriteFiles(ctx, s.Blobs, files, out, into, nil))
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
	errtest.None(t, os.Symlink(folder, filepath.Join(out, "away")))
	if err := local.WriteFiles(ctx, s.Blobs, []artifacts.File{{Name: "away/x", Digest: d, Size: 4}}, out, true, nil); err == nil {
		t.Error("a file was written through a link")
	}
}
