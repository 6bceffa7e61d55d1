package hashed

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestMemory: a file is read once, and what may have changed is read again.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "f"), filepath.Join(dir, "state", "digests.json")
	must := func(errs ...error) {
		t.Helper()
		testkit.None(t, errors.Join(errs...))
	}
	t0 := time.Unix(1_700_000_000, 0)
	write := func(s string) { must(os.WriteFile(path, []byte(s), 0o644), os.Chtimes(path, t0, t0)) }
	ask := func() artifacts.Digest {
		m := Open(file)
		d, proof, err := m.Digest(t.Context(), path, nil)
		must(err, m.Save())
		if proof.Size != 3 {
			t.Fatalf("size %d", proof.Size)
		}
		return d
	}
	plant := func(d artifacts.Digest) { // as if the file had been hashed a minute after its last change
		known := read(file)
		r := known[path]
		r.Read = r.CTime + int64(time.Minute)
		if !d.IsZero() {
			r.SHA256 = d
		}
		known[path] = r
		must(atomicfile.WriteJSON(file, known, "", 0o644))
	}
	has := func(text, wrong string) {
		t.Helper()
		if ask() != artifacts.Sum([]byte(text)) {
			t.Fatal(wrong)
		}
	}
	write("one")
	has("one", "another digest")
	write("two") // hashed a moment ago, same size, mtime and inode: maybe the same ctime
	has("two", "a file that had just changed was believed to stay as it is")
	plant(artifacts.Sum([]byte("planted")))
	has("planted", "the memory is not used")
	if d, _, err := Open(file).Hash(t.Context(), path, nil); err != nil || d != artifacts.Sum([]byte("two")) {
		t.Fatalf("Hash believed the memory: %v, %v", d, err)
	}
	must(Forget(file, path))
	has("two", "what was forgotten is still believed")
	plant(artifacts.Digest{})
	write("six") // cp -p, rsync -t, SOURCE_DATE_EPOCH
	has("six", "other bytes under the same size and mtime were not hashed")
	plant(artifacts.Digest{})
	other := filepath.Join(dir, "other")
	must(os.WriteFile(other, []byte("new"), 0o644), os.Chtimes(other, t0, t0), os.Rename(other, path))
	has("new", "another file under the same name, size and mtime was not hashed")
	must(os.WriteFile(file, []byte("]"), 0o644))
	has("new", "a damaged memory is not forgotten")
}

// TestMemoryOfOthers: what two processes hash at once is kept, and the zero Memory keeps no file.
func TestMemoryOfOthers(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "digests.json")
	memories := []*Memory{Open(file), Open(file), {}}
	for i, m := range memories {
		path := filepath.Join(dir, string(rune('a'+i)))
		_, _, err := m.Digest(t.Context(), path, nil)
		if !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		testkit.Write(t, path, "")
		_, _, err = m.Digest(t.Context(), path, nil)
		testkit.None(t, errors.Join(err, m.Save()))
	}
	testkit.Is(t, len(read(file)), 2, "files are remembered 2")
}

// FuzzMemory: a damaged file is an empty memory, and never the reason of an error.
func FuzzMemory(f *testing.F) {
	f.Add([]byte(`{"/x":{"size":1,"mtime_ns":2,"pin":{"source":"x"}}}`))
	f.Add([]byte(`{"format":"redsi-digests/2","files":{"/x":{}}}`))
	f.Add([]byte(`{`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		file, path := filepath.Join(dir, "digests.json"), filepath.Join(dir, "file")
		testkit.Write(t, file, b)
		testkit.Write(t, path, "text")
		m := Open(file)
		if d, _, err := m.Digest(t.Context(), path, nil); err != nil || d != artifacts.Sum([]byte("text")) {
			t.Fatalf("%q: the file has %v, %v", b, d, err)
		}
		testkit.None(t, m.Save())
	})
}
