package pipeline_test

import (
	"path/filepath"
	"syscall"
	"testing"
)

// fifo makes a pipe that nobody writes to.
func fifo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
