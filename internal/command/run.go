package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Run is one run of a program.
type Run struct {
	Program   string   // path of the executable
	Argv      []string // as the program sees it, its name first
	Dir       string   // working folder
	Env       map[string]string
	Stdin     io.Reader // nil: empty
	Stdout    io.Writer
	Line      func(string)  // called with every line of standard error, one at a time
	Timeout   time.Duration // 0: none
	ExitCodes []int         // that mean success
}

// ExitError says how a program ended that should have ended otherwise.
type ExitError struct {
	Argv   []string
	Code   int    // -1 if a signal ended it
	Signal string // "" if it exited by itself
	Tail   string // the end of its standard error
}

func (e *ExitError) Error() string {
	msg := fmt.Sprintf("%s exited with code %d", e.Argv[0], e.Code)
	if e.Signal != "" {
		msg = fmt.Sprintf("%s was ended by signal %q (out of memory, perhaps)", e.Argv[0], e.Signal)
	}
	return msg + tailed(e.Tail)
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

// ErrLeftRunning says that a program ended while others that it had started
// still held its output open.
var ErrLeftRunning = errors.New("it left processes running that hold its output open; let it wait for them")

func tailed(tail string) string {
	if tail == "" {
		return "; it wrote nothing to standard error"
	}
	return "; the end of its standard error:\n" + tail
}

// stragglers is how long processes that a program left behind may go on
// holding its output open.
const stragglers = 5 * time.Second

// Do runs the program to its end. The program is the leader of a process group;
// when ctx ends or the timeout passes, the group is killed, and so is whatever
// the program left running in it. Errors: ctx.Err(), *TimeoutError, *ExitError,
// ErrLeftRunning, or what kept the program from starting.
func (r Run) Do(ctx context.Context) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if r.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, r.Timeout)
	}
	defer cancel()
	said := &lines{each: r.Line}
	cmd := exec.CommandContext(limited, r.Program)
	cmd.Args, cmd.Dir, cmd.Env = r.Argv, r.Dir, environ(r.Env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.Stdin, r.Stdout, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return endGroup(cmd.Process.Pid) }
	cmd.WaitDelay = stragglers
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", r.Argv[0], err)
	}
	err := cmd.Wait()
	if gone := endGroup(cmd.Process.Pid); gone != nil && err == nil {
		err = gone
	}
	said.end()
	return r.outcome(ctx, limited, cmd, err, said.tail())
}

func (r Run) outcome(ctx, limited context.Context, cmd *exec.Cmd, err error, tail string) error {
	state := cmd.ProcessState
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil && !state.Success():
		return &TimeoutError{r.Argv, r.Timeout, tail}
	case errors.Is(err, exec.ErrWaitDelay):
		return fmt.Errorf("%s: %w", r.Argv[0], ErrLeftRunning)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("%s: %w", r.Argv[0], err) // a stream broke: what reads its output, or feeds it
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return &ExitError{r.Argv, -1, ws.Signal().String(), tail}
	}
	if !slices.Contains(r.ExitCodes, state.ExitCode()) {
		return &ExitError{r.Argv, state.ExitCode(), "", tail}
	}
	return nil
}

// endGroup kills a process group; one that is empty is no error.
func endGroup(leader int) error {
	err := syscall.Kill(-leader, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) { // EPERM: macOS, of a group of zombies
		return nil
	}
	return err
}

func environ(env map[string]string) []string {
	list := make([]string, 0, len(env))
	for k, v := range env {
		list = append(list, k+"="+v)
	}
	slices.Sort(list)
	return list
}

// What is kept of standard error for an error's text, and of one line of it.
const (
	tailLines = 20
	lineBytes = 1000
)

// lines cuts a stream into lines and keeps the last ones.
type lines struct {
	each func(string)
	part []byte
	kept []string
}

func (l *lines) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		i := slices.Index(b, '\n')
		piece := b
		if i >= 0 {
			piece = b[:i]
		}
		if room := lineBytes - len(l.part); room > 0 {
			l.part = append(l.part, piece[:min(room, len(piece))]...)
		}
		if i < 0 {
			break
		}
		l.end()
		b = b[i+1:]
	}
	return n, nil
}

func (l *lines) end() {
	s := strings.ToValidUTF8(strings.TrimRight(string(l.part), "\r"), "�")
	l.part = l.part[:0]
	if s == "" {
		return
	}
	if len(l.kept) == tailLines {
		l.kept = l.kept[1:]
	}
	l.kept = append(l.kept, s)
	if l.each != nil {
		l.each(s)
	}
}

func (l *lines) tail() string { return strings.Join(l.kept, "\n") }
