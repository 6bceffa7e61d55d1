package system_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/session/doctor"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestWithoutLocks: whoever takes a lock where the file system has none says where that is and what
// puts it elsewhere; what can do without goes on.
func TestWithoutLocks(t *testing.T) {
	for name, c := range map[string]struct {
		do      func(folder string) error
		instead string // "": it needs no lock
	}{
		"server": {func(folder string) error {
			s, err := devserver.Visit(t.Context(), folder)
			if s != nil || err != nil {
				return fmt.Errorf("a server without locks, or %w", err)
			}
			_, err = devserver.Join(t.Context(), devserver.Options{Dir: folder})
			return err
		}, "--state"},
		"doctor": {func(folder string) error {
			f := doctor.State(folder)
			testkit.That(t, !f.OK && strings.Contains(f.Do, "--state"), f)
			return errors.New(f.Note)
		}, "the embedded server"},
		"store": {func(folder string) error {
			s, err := dir.Open(folder)
			if err == nil {
				err = s.Records.Create(t.Context(), "runs/1", []byte("a"))
			}
			return errors.Join(err, s.Records.Replace(t.Context(), "runs/1", []byte("a"), []byte("b")))
		}, ""},
		"steps' folders": {func(folder string) error { return testkit.Err(scratch.In(folder).New()) }, "TMPDIR"},
		"environments": {func(folder string) error {
			t.Setenv(realize.Variable, folder)
			w := realize.Wanted{Name: "environment.py", Recipe: environment.Recipe{Platform: environment.Here()}, Packages: &libraries.Environment{}}
			_, err := new(realize.Environments).Use(t.Context(), w, func(string) {})
			return err
		}, realize.Variable},
		"downloads": {func(folder string) error {
			return testkit.Err(fetch.Get(t.Context(), fetch.Request{Partials: folder, Sources: []fetch.Source{{Raw: "http://127.0.0.1:1", URL: "http://127.0.0.1:1"}}}))
		}, "--state"},
		"project": {func(folder string) error {
			path := filepath.Join(folder, lockfile.Name)
			id, err := lockfile.Project(path)
			f, rerr := lockfile.Read(path)
			if err == nil && rerr == nil && (id == "" || f.Project != id) {
				err = errors.New("nothing was written")
			}
			return errors.Join(err, rerr)
		}, ""},
	} {
		folder := filepath.Join(t.TempDir(), "folder")
		testkit.None(t, syscall.Mkdir(folder, 0o700))
		var err error
		without(t, func() { err = c.do(folder) })
		switch {
		case c.instead == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.instead != "" && (err == nil || !strings.Contains(err.Error(), folder+" has no file locks") || !strings.Contains(err.Error(), c.instead)):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// without does something where flock answers ENOLCK, as on NFS without its lock service. The kernel says so to
// one thread, which ends with what is done: it must not take its locks in goroutines of its own.
func without(t *testing.T, what func()) {
	const nr = 0 // offset in struct seccomp_data
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: nr},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FLOCK, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOLCK)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		defer close(done)
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			done <- err
			return
		}
		if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&filter))); errno != 0 {
			done <- errno
			return
		}
		what()
	}()
	testkit.None(t, <-done)
}
