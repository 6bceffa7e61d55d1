package lockfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
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
		filetest.Write(t, path, text)
		for name, read := range map[string]func() error{
			"Read": func() error { _, err := Read(path); return err },
			"Open": func() error { _, err := Open(path, "", ""); return err },
		} {
			if err := read(); (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path)) {
				t.Errorf("%s of %s: %v", name, text, err)
			}
		}
	}
}

func TestAdd(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	errtest.None(t, Add(path, []step.Pin{pin("https://b", "b"), pin("https://a", "a")}))
	first, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(first), "{\n  \"format\": \"redsi-lock/1\"") {
		t.Fatalf("%s, %v", first, err)
	}
	errtest.None(t, Add(path, []step.Pin{pin("https://a", "a")}))
	again, _ := os.ReadFile(path)
	if string(first) != string(again) {
		t.Error("pinning what is pinned changed the file")
	}
	if a, b := strings.Index(string(first), "https://a"), strings.Index(string(first), "https://b"); a < 0 || b < a {
		t.Errorf("sources are not in order:\n%s", first)
	}
	lock := filepath.Join(filepath.Dir(path), "."+Name+".lock")
	errtest.None(t, os.Remove(lock))
	errtest.None(t, Add(path, []step.Pin{pin("https://a", "a")}))
	if _, err := os.Stat(lock); err == nil { // a checkout may be read-only
		t.Error("pinning what is pinned wrote to the folder")
	}
	err = Add(path, []step.Pin{pin("https://a", "other bytes")})
	errtest.Says(t, err, "https://a", path)
	f, err := Read(path)
	errtest.None(t, err)
	if p, ok := f.Pinned("https://b"); !ok || p != pin("https://b", "b") {
		t.Errorf("read back %+v", p)
	}
}

func TestLocalFileMustBeAFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	errtest.None(t, syscall.Mkfifo(pipe, 0o644))
	s, err := Open(filepath.Join(dir, Name), dir, "")
	errtest.None(t, err)
	for _, path := range []string{pipe, dir, "/dev/zero"} { // a pipe must not be waited for
		errtest.Says(t, errtest.Of(s.LocalFile(t.Context(), path)), path+" is not a regular file")
	}
}
