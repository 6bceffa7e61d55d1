package system

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// NoFollow has no counterpart on Windows: callers look what a file is before they open it.
const NoFollow = 0

// No program is ended by a signal on Windows: these numbers do not occur.
const (
	SIGXCPU = syscall.Signal(-1 - iota)
	SIGXFSZ
	SIGSYS
)

// Session changes nothing.
func Session() *syscall.SysProcAttr { return nil }

// KillGroup fails.
func KillGroup(int) error { return errors.New("process groups are not there on Windows") }

// CloseOnExec keeps a file from the programs that this process starts.
func CloseOnExec(f *os.File) { syscall.CloseOnExec(syscall.Handle(f.Fd())) }

// Free is not known.
func Free(string) (int64, bool) { return 0, false }

// Private fails.
func Private(fs.FileInfo) error {
	return errors.New("is not used: who may write to a folder is not looked up on Windows")
}

// Owner is not looked up.
func Owner(string) string { return "another account" }
