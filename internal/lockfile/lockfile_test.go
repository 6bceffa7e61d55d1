package lockfile

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/step"
)

func pin(source, bytes string) step.Pin {
	return step.Pin{Source: source, SHA256: artifacts.Sum([]byte(bytes)), Size: int64(len(bytes))}
}

func TestAdd(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	if err := Add(path, []step.Pin{pin("https://b", "b"), pin("https://a", "a")}); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
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
	t0 := time.Unix(1_700_000_000, 0)
	write("one", t0)
	if p := ask(); p != pin(file, "one") {
		t.Fatalf("%+v", p)
	}
	write("two", t0) // same size and time: the memory answers, which shows that it is used
	if p := ask(); p != pin(file, "one") {
		t.Fatal("the file was hashed again")
	}
	write("two", t0.Add(time.Second))
	if p := ask(); p != pin(file, "two") {
		t.Fatal("a file with another time was not hashed again")
	}
	if err := os.WriteFile(memo, []byte("]"), 0o644); err != nil {
		t.Fatal(err)
	}
	if p := ask(); p != pin(file, "two") {
		t.Fatal("a damaged memory is not forgotten")
	}
}
