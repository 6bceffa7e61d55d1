package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// only fails unless path is all that its folder has, with these bytes and permissions.
func only(t *testing.T, path, want string, perm os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	testkit.None(t, err)
	b, err := os.ReadFile(path)
	if err != nil || string(b) != want || info.Mode() != perm {
		t.Errorf("%q of mode %v, %v; want %q of %v", b, info.Mode(), err, want, perm)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "file")
	testkit.None(t, WriteFile(path, []byte("one"), 0o600))
	only(t, path, "one", 0o600)
	testkit.None(t, WriteFile(path, []byte("two"), 0o666)) // more than a umask leaves
	only(t, path, "two", 0o666)
	broken := errors.New("broken")
	err := Write(path, 0o600, func(w io.Writer) error {
		io.WriteString(w, "half")
		return broken
	})
	testkit.That(t, errors.Is(err, broken) && strings.Contains(err.Error(), path), "a writer that fails", err)
	only(t, path, "two", 0o666)
	for _, to := range []string{filepath.Join(path, "x"), filepath.Dir(path)} { // a file for a folder, a folder for a file
		testkit.ErrSays(t, WriteFile(to, nil, 0o600), to)
	}
	only(t, path, "two", 0o666)
}

func TestWritersAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if err := WriteFile(path, bytes.Repeat([]byte{'a' + byte(i)}, 100_000), 0o644); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b, err := os.ReadFile(path)
	if err != nil || len(b) != 100_000 || !bytes.Equal(b, bytes.Repeat(b[:1], len(b))) {
		t.Errorf("%d bytes of several writers, %v", len(b), err)
	}
	only(t, path, string(b), 0o644)
}
