package lockfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/step"
)

// TestFolders: ten thousand files are hashed once, and what changes is seen.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	memo := filepath.Join(dir, "state", "digests.json")
	write := func(name, text string) {
		t.Helper()
		at := filepath.Join(dir, "data", name)
		filetest.Write(t, at, text)
	}
	for i := range 10_000 { // a hundred files of a hundred names: making files is what takes long
		name := fmt.Sprintf("%02d/%04d", i%100, i)
		if i < 100 {
			write(name, fmt.Sprint(i))
		} else if err := os.Link(filepath.Join(dir, fmt.Sprintf("data/%02d/%04d", i%100, i%100)), filepath.Join(dir, "data", name)); err != nil {
			t.Fatal(err)
		}
	}
	list := func(path string) step.Folder {
		t.Helper()
		s, err := Open(filepath.Join(dir, Name), dir, memo)
		errtest.None(t, err)
		f, err := s.LocalTree(t.Context(), path, true) // relative to the pipeline
		errtest.None(t, err)
		errtest.None(t, s.Save())
		return f
	}
	readMemory := func() (known map[string]map[string]json.RawMessage) {
		b, err := os.ReadFile(memo)
		errtest.None(t, errors.Join(err, json.Unmarshal(b, &known)))
		return known
	}
	few := list("data/00").Tree
	first := list("data")
	if len(first.Tree.Files) != 10_000 || first.Source != filepath.Join(dir, "data") || first.Tree.Validate() != nil {
		t.Fatalf("%d files of %s, %v", len(first.Tree.Files), first.Source, first.Tree.Validate())
	}
	known := readMemory()
	for _, r := range known { // as if hashed a minute after the last change
		changed, err := strconv.ParseInt(string(r["ctime_ns"]), 10, 64)
		errtest.None(t, err)
		r["read_ns"] = strconv.AppendInt(nil, changed+int64(time.Minute), 10)
		r["sha256"] = json.RawMessage(strconv.Quote(artifacts.Sum([]byte("planted")).String()))
	}
	errtest.None(t, atomicfile.WriteJSON(memo, known, "", 0o644))
	for _, f := range list("data").Tree.Files {
		if f.Digest != artifacts.Sum([]byte("planted")) {
			t.Fatalf("%s was hashed again", f.Name)
		}
	}
	if err := hashed.Forget(memo, filepath.Join(dir, "data")); err != nil || len(readMemory()) != 0 {
		t.Fatalf("%d files of a folder are still believed, %v", len(readMemory()), err)
	}
	if list("data/00").Tree.Digest != few.Digest {
		t.Error("the same files have another tree")
	}
	write("00/0000", "x")
	changed := list("data/00").Tree
	write("00/new", "x")
	added := list("data/00").Tree
	errtest.None(t, errors.Join(os.Remove(filepath.Join(dir, "data/00/new")), os.Remove(filepath.Join(dir, "data/00/0200"))))
	removed := list("data/00").Tree
	seen := map[artifacts.Digest]bool{few.Digest: true, changed.Digest: true, added.Digest: true, removed.Digest: true}
	if len(seen) != 4 || len(added.Files) != 101 || len(removed.Files) != 99 {
		t.Errorf("%d trees, of %d and %d files", len(seen), len(added.Files), len(removed.Files))
	}
	at := filepath.Join(dir, "data", "00", "0100")
	errtest.None(t, errors.Join(os.Remove(at), os.Symlink("/etc/passwd", at)))
	s, err := Open(filepath.Join(dir, Name), dir, memo)
	errtest.None(t, err)
	errtest.Says(t, errtest.Of(s.LocalTree(t.Context(), "data", true)), `link "00/0100" leads to the absolute path "/etc/passwd"`)
}

// TestAskedOnce: a program is the same for a whole plan, and looked at anew where that is asked for.
func TestAskedOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	s, err := Open("", dir, "")
	errtest.None(t, err)
	for i, want := range []string{"one", "one", "two", "two"} {
		filetest.Write(t, path, []string{"one", "two", "two", "six"}[i])
		s.Rehash(i == 2)
		pin, err := s.LocalFile(t.Context(), path)
		if errtest.None(t, err); pin.SHA256 != artifacts.Sum([]byte(want)) {
			t.Errorf("asked %d times, it is not as %q", i+1, want)
		}
	}
	if pin, err := s.LocalFile(t.Context(), "program"); err != nil || pin.SHA256 != artifacts.Sum([]byte("six")) {
		t.Errorf("a source is not looked at each time: %v, %v", pin, err)
	}
}
