package command

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/system"
)

// StartError says why a program did not start.
type StartError struct {
	Argv []string
	Err  error
}

func (e *StartError) Error() string {
	msg := fmt.Sprintf("start %s: %v", e.Argv[0], e.Err)
	switch {
	case errors.Is(e.Err, syscall.E2BIG):
		msg += ": its arguments and environment are longer than this system takes; give them in a file, by files or inputs, or on standard input"
	case errors.Is(e.Err, syscall.ENOEXEC):
		msg += ": it is not a program of this system; name its interpreter first, or begin it with a line such as #!/bin/sh"
	case errors.Is(e.Err, syscall.EACCES):
		msg += ": this account may not execute it, or the interpreter that its first line names"
	case errors.Is(e.Err, syscall.ENOENT):
		msg += ": its file, or the interpreter that its first line names, is not on this worker"
	}
	return msg
}

func (e *StartError) Unwrap() error { return e.Err }

// Passing reports whether the system was short of something only for the moment.
func (e *StartError) Passing() bool {
	short := []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY, syscall.EINTR}
	return slices.ContainsFunc(short, func(err error) bool { return errors.Is(e.Err, err) })
}

// ExitError says how a program failed.
type ExitError struct {
	Argv   []string
	Code   int            // -1 if a signal ended it
	Signal syscall.Signal // 0 if it exited
	Tail   string         // the end of its standard error
	Killed bool           // meanwhile the system ended processes for want of memory
}

// OutOfMemory reports whether the system ended the program, or a program that it had started, for want of memory.
func (e *ExitError) OutOfMemory() bool {
	const byShell = 128 + int(syscall.SIGKILL) // what it had started was killed
	return e.Killed && (e.Signal == syscall.SIGKILL || e.Code == byShell)
}

func (e *ExitError) Error() string {
	msg := fmt.Sprintf("%s exited with code %d", e.Argv[0], e.Code)
	if e.Signal != 0 {
		msg = fmt.Sprintf("%s was ended by signal %q (%s)", e.Argv[0], e.Signal, e.cause())
	} else if e.OutOfMemory() {
		msg += ": the system ended a program that it had started, since no memory was left"
	}
	return msg + tailed(e.Tail)
}

const outOfMemory = "out of memory, perhaps"

func (e *ExitError) cause() string {
	switch e.Signal {
	case system.SIGXFSZ:
		return "it wrote a file larger than this worker allows: ulimit -f"
	case system.SIGXCPU:
		return "it used more processor time than this worker allows: ulimit -t"
	case syscall.SIGSEGV, syscall.SIGILL, syscall.SIGFPE, syscall.SIGBUS, syscall.SIGABRT, system.SIGSYS, syscall.SIGTRAP:
		return "it crashed"
	}
	if e.OutOfMemory() {
		return "by the system: no memory was left"
	}
	return outOfMemory
}

// Passing reports whether the program was ended by something that may not recur: short memory, a person, a machine that
// stops. Crashes, limits, and what the program says by its exit code are the same each time.
func (e *ExitError) Passing() bool {
	return e.Signal != 0 && (e.OutOfMemory() || e.cause() == outOfMemory)
}

// TimeoutError says that a program ran longer than it may.
type TimeoutError struct {
	Argv    []string
	Timeout time.Duration
	Tail    string
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("%s ran past its timeout of %s", e.Argv[0], e.Timeout) + tailed(e.Tail)
}

// ErrLeftRunning says that a program ended while programs that it had started still held its output open.
var ErrLeftRunning = errors.New("it left processes running that hold its output open; let it wait for them")

func tailed(tail string) string {
	if tail == "" {
		return "; it wrote nothing to standard error"
	}
	return "; the end of its standard error:\n" + tail
}
