package filetest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Write writes a file, with the folders that it is in; an error ends the test.
func Write[T string | []byte](t testing.TB, path string, text T) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}
