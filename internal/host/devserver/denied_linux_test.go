package devserver

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestDenied: of a folder, or a lock in it, that another account keeps to itself nobody says that it has no server.
func TestDenied(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "temporal")
	testkit.None(t, os.Mkdir(dir, 0o755))
	testkit.None(t, os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755)) // which TempDir keeps for this account
	testkit.None(t, os.WriteFile(filepath.Join(dir, ownerLock), nil, 0))
	for _, closed := range []string{filepath.Join(dir, ownerLock), dir, filepath.Dir(dir), filepath.Dir(filepath.Dir(dir))} {
		info, err := os.Stat(closed)
		testkit.None(t, err)
		testkit.None(t, os.Chmod(closed, 0))
		var visit *Server
		var visitErr, workErr error
		as(t, func() {
			visit, visitErr = Visit(t.Context(), dir)
			_, workErr = WorkerOptions(dir)
		})
		testkit.None(t, os.Chmod(closed, info.Mode()))
		testkit.That(t, visit == nil && errors.Is(visitErr, fs.ErrPermission), closed, "visited", visit, visitErr)
		if want := closed != filepath.Join(dir, ownerLock); errors.Is(workErr, fs.ErrPermission) != want {
			t.Errorf("%s: a worker is told %v", closed, workErr)
		}
	}
}

// as calls f as an account that is not root, for whom no file is closed.
func as(t *testing.T, f func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if os.Geteuid() == 0 {
		testkit.None(t, syscall.Setfsuid(65534))
		defer func() { testkit.None(t, syscall.Setfsuid(0)) }()
	}
	f()
}
