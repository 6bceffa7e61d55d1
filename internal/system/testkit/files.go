package testkit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Write writes a file, with the folders around it; an error ends the test.
func Write[T string | []byte](t testing.TB, path string, text T) {
	t.Helper()
	write(t, path, []byte(text), 0o644)
}

// Program is Write of a file that can be executed.
func Program[T string | []byte](t testing.TB, path string, text T) {
	t.Helper()
	write(t, path, []byte(text), 0o755)
}

func write(t testing.TB, path string, text []byte, mode fs.FileMode) {
	t.Helper()
	None(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, mode)))
}

// Text returns a file's text; a file that cannot be read ends the test.
func Text(t testing.TB, path string) string {
	t.Helper()
	return string(Value(os.ReadFile(path))(t))
}
