package lockfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/step"
)

func pin(source, bytes string) step.Pin {
	return step.Pin{Source: source, SHA256: artifacts.Sum([]byte(bytes)), Size: int64(len(bytes))}
}

// A file of another redsi is refused, so that nothing of it is lost when it is written again.
func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "there is no field sources", `{"comment": "x", "sources": []}`: "", `{"format": "redsi-lock/1", "sources": []}`: "",
		`{"format": "redsi-lock/2"}`: `(its format is "redsi-lock/2"):`, `{"format": "redsi-lock/2", "sources": [], "new": 1}`: `its format is "redsi-lock/2"`, `{"models": []}`: `unknown field "models"`, `{"sources": [{"etag": "x"}]}`: `unknown field "etag"`,
		`{`: "is not a lock file", `{} <<<`: "is not a lock file",
	} {
		path := filepath.Join(t.TempDir(), Name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAdd(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	if err := Add(path, []step.Pin{pin("https://b", "b"), pin("https://a", "a")}); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(first), "{\n  \"format\": \"redsi-lock/1\"") {
		t.Fatalf("%s, %v", first, err)
	}
	if err := Add(path, []step.Pin{pin("https://a", "a")}); err != nil {
		t.Fatal(err)
	}
	again, _ := os.ReadFile(path)
	if string(first) != string(again) {
		t.Error("pinning what is pinned changed the file")
	}
	if a, b := strings.Index(string(first), "https://a"), strings.Index(string(first), "https://b"); a < 0 || b < a {
		t.Errorf("sources are not in order:\n%s", first)
	}
	lock := filepath.Join(filepath.Dir(path), "."+Name+".lock")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := Add(path, []step.Pin{pin("https://a", "a")}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(lock); err == nil { // a checkout may be read-only
		t.Error("pinning what is pinned wrote to the folder")
	}
	err = Add(path, []step.Pin{pin("https://a", "other bytes")})
	if err == nil || !strings.Contains(err.Error(), "https://a") || !strings.Contains(err.Error(), path) {
		t.Errorf("other bytes under a pinned source: %v", err)
	}
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := f.Pinned("https://b"); !ok || p != pin("https://b", "b") {
		t.Errorf("read back %+v", p)
	}
}

func TestDamagedLockFileIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, "", ""); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if err := Add(path, []step.Pin{pin("x", "y")}); err == nil {
		t.Error("a damaged lock file was overwritten")
	}
}

func TestLocalFilesAreHashedOnce(t *testing.T) {
	dir := t.TempDir()
	file, memo := filepath.Join(dir, "f"), filepath.Join(dir, "state", "digests.json")
	write := func(s string, at time.Time) {
		if err := os.WriteFile(file, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	ask := func() step.Pin {
		s, err := Open(filepath.Join(dir, Name), dir, memo)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.LocalFile(context.Background(), "f") // relative to the pipeline
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Save(); err != nil {
			t.Fatal(err)
		}
		return p
	}
	settle := func() { // as if the file had been hashed a minute after its last change
		known := readMemo(memo)
		r := known[file]
		r.Read = r.CTime + int64(time.Minute)
		known[file] = r
		if err := atomicfile.WriteJSON(memo, known, "", 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t0 := time.Unix(1_700_000_000, 0)
	write("one", t0)
	if p := ask(); p != pin(file, "one") {
		t.Fatalf("%+v", p)
	}
	write("two", t0) // hashed a moment ago, same size, mtime and inode: maybe the same ctime
	if p := ask(); p != pin(file, "two") {
		t.Fatal("a file that had just changed was believed to stay as it is")
	}
	settle()
	known := readMemo(memo)
	planted := known[file]
	planted.Pin = pin(file, "planted")
	if err := atomicfile.WriteJSON(memo, map[string]remembered{file: planted}, "", 0o644); err != nil {
		t.Fatal(err)
	}
	if p := ask(); p != planted.Pin {
		t.Fatal("the memory is not used")
	}
	if err := Forget(memo, file); err != nil {
		t.Fatal(err)
	}
	if p := ask(); p != pin(file, "two") {
		t.Fatal("what was forgotten is still believed")
	}
	settle()
	write("six", t0) // cp -p, rsync -t, SOURCE_DATE_EPOCH
	if p := ask(); p != pin(file, "six") {
		t.Fatal("other bytes under the same size and mtime were not hashed")
	}
	settle()
	other := filepath.Join(dir, "other")
	if err := errors.Join(os.WriteFile(other, []byte("new"), 0o644), os.Chtimes(other, t0, t0), os.Rename(other, file)); err != nil {
		t.Fatal(err)
	}
	if p := ask(); p != pin(file, "new") {
		t.Fatal("another file under the same name, size and mtime was not hashed")
	}
	if err := os.WriteFile(memo, []byte("]"), 0o644); err != nil {
		t.Fatal(err)
	}
	if p := ask(); p != pin(file, "new") {
		t.Fatal("a damaged memory is not forgotten")
	}
}

// TestMemoryOfEarlierReleases had size and mtime only: it is not believed.
func TestMemoryOfEarlierReleases(t *testing.T) {
	dir := t.TempDir()
	file, memo := filepath.Join(dir, "f"), filepath.Join(dir, "digests.json")
	if err := os.WriteFile(file, []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	old := fmt.Sprintf(`{%q:{"size":3,"mtime_ns":%d,"pin":{"source":%q,"sha256":%q,"size":3}}}`,
		file, info.ModTime().UnixNano(), file, artifacts.Sum([]byte("old")))
	if err := os.WriteFile(memo, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Open(filepath.Join(dir, Name), dir, memo)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := s.LocalFile(t.Context(), file); err != nil || p != pin(file, "new") {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestLocalFileMustBeAFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Open(filepath.Join(dir, Name), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir, "/dev/zero"} { // a pipe must not be waited for
		if _, err := s.LocalFile(t.Context(), path); err == nil || !strings.Contains(err.Error(), path+" is not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
