package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/system"
)

// Run is one run of a program.
type Run struct {
	Program   string   // path of the executable
	Argv      []string // as the program sees it, its name first
	Dir       string   // working folder
	Env       map[string]string
	Stdin     io.Reader // nil: empty
	Stdout    io.Writer
	Stderr    io.Writer                      // if set, takes standard error, after Filter
	Line      func(string)                   // called with every line of standard error, one at a time
	Box       *isolation.Box                 // if set, what the program is kept to; its Dir is Dir
	Binds     []isolation.Bind               // files that it sees in Dir
	Found     func(isolation.Findings)       // called with what it did outside of its box, before Do returns
	Started   func(pid int) error            // if set, called once it runs, with the leader of its process group; an error ends it
	Filter    func(io.Writer) io.WriteCloser // if set, standard error passes it before it is cut into lines
	Exited    func(code int)                 // if set, called with the exit code of a success
	Used      func(usage.Program)            // if set, called with what it used, before Do returns
	Kills     func() int64                   // counts processes that the system ended for want of memory; nil: capacity.Kills
	Timeout   time.Duration                  // 0: none
	ExitCodes []int                          // which mean success
}

// Do runs the program to its end. The program leads a session, so a process group, without a terminal; when ctx ends or
// the timeout passes, the group is killed, with whatever the program left running in it. Where the system can (Linux),
// the program dies with this process. Errors: ctx.Err(), *TimeoutError, *ExitError, ErrLeftRunning, *StartError, or
// what broke a stream; before the program begins *isolation.SetupError with a Box, and *isolation.BindError with Binds.
func (r Run) Do(ctx context.Context) error {
	if len(r.Binds) == 0 {
		return r.do(ctx)
	}
	box := isolation.Box{Mode: isolation.Off, Dir: r.Dir, Program: r.Program}
	if r.Box != nil {
		box = *r.Box
	}
	box.Binds = r.Binds
	return box.WithBinds(func(b *isolation.Box) error {
		r.Box = b
		return r.do(ctx)
	})
}

func (r Run) do(ctx context.Context) error {
	// Linux ends the child with the thread that started it: this thread waits for its end.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	limited, cancel := context.WithTimeout(ctx, cmp.Or(r.Timeout, math.MaxInt64))
	defer cancel()
	said := &lines{each: r.Line}
	var stderr io.Writer = said
	if r.Stderr != nil {
		stderr = io.MultiWriter(said, r.Stderr)
	}
	filtered := func() error { return nil }
	if r.Filter != nil {
		f := r.Filter(stderr)
		stderr, filtered = f, f.Close
	}
	cmd := exec.CommandContext(limited, r.Program)
	cmd.Args, cmd.Dir, cmd.Env = r.Argv, r.Dir, environ(r.Env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.Stdin, r.Stdout, stderr
	cmd.SysProcAttr = system.Tied(system.Session()) // with no terminal that it could stop at to ask
	cmd.Cancel = func() error { return system.KillGroup(cmd.Process.Pid) }
	cmd.WaitDelay = 5 * time.Second // in which processes that the program left behind may hold its output open
	kills := r.Kills
	if kills == nil {
		kills = capacity.Kills
	}
	own, before := usage.Own(), kills()
	boxed, err := r.start(cmd)
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	var unrecorded error
	if r.Started != nil {
		if unrecorded = r.Started(cmd.Process.Pid); unrecorded != nil {
			cancel()
		}
	}
	err = cmd.Wait()
	if gone := system.KillGroup(cmd.Process.Pid); gone != nil && err == nil {
		err = gone
	}
	if late := filtered(); late != nil && err == nil {
		err = late
	}
	said.end()
	if u, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage); u != nil && r.Used != nil {
		r.Used(usage.OfProgram(u, max(own, usage.Own())))
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if boxed != nil {
		found, inner := boxed.End()
		if r.Found != nil {
			r.Found(found)
		}
		if inner != nil {
			status = *inner
		} else if r.Box.Mode == isolation.Enforce && ok && status.Exited() {
			return &isolation.SetupError{Mode: r.Box.Mode, Err: errors.New("the process that kept it ended before it did")}
		}
	}
	if unrecorded != nil {
		return fmt.Errorf("%s: %w", r.Argv[0], unrecorded)
	}
	return r.outcome(ctx, limited, status, err, strings.Join(said.kept, "\n"), func() bool { return kills() > before })
}

// start starts the program, in its box if it has one; else the result is nil.
func (r Run) start(cmd *exec.Cmd) (*isolation.Running, error) {
	if r.Box == nil {
		if err := cmd.Start(); err != nil {
			return nil, &StartError{r.Argv, r.linked(err)}
		}
		return nil, nil
	}
	boxed, err := r.Box.Start(cmd)
	switch err.(type) {
	case nil, *isolation.SetupError, *isolation.BindError:
	default:
		err = &StartError{r.Argv, r.linked(err)}
	}
	return boxed, err
}

// linked adds to the error of a program that is not found the target of its link.
func (r Run) linked(err error) error {
	if to, bad := filepath.EvalSymlinks(r.Program); bad == nil && to != r.Program && errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("%w (it is a link to %s)", err, to)
	}
	return err
}

func (r Run) outcome(ctx, limited context.Context, ws syscall.WaitStatus, err error, tail string, killed func() bool) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil && ws.ExitStatus() != 0:
		return &TimeoutError{r.Argv, r.Timeout, tail}
	case errors.Is(err, exec.ErrWaitDelay):
		return fmt.Errorf("%s: %w", r.Argv[0], ErrLeftRunning)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return fmt.Errorf("%s: %w", r.Argv[0], err) // the reader of its output or the source of its input failed
	}
	if ws.Signaled() {
		return &ExitError{r.Argv, -1, ws.Signal(), tail, killed()}
	}
	if !slices.Contains(r.ExitCodes, ws.ExitStatus()) {
		return &ExitError{r.Argv, ws.ExitStatus(), 0, tail, killed()}
	}
	if r.Exited != nil {
		r.Exited(ws.ExitStatus())
	}
	return nil
}

func environ(env map[string]string) []string {
	list := make([]string, 0, len(env))
	for k, v := range env {
		list = append(list, k+"="+v)
	}
	slices.Sort(list)
	return list
}

// What is kept of standard error for an error's text, and of each line.
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
		piece, rest, whole := bytes.Cut(b, []byte("\n"))
		l.part = append(l.part, piece[:min(lineBytes-len(l.part), len(piece))]...)
		if whole {
			l.end()
		}
		b = rest
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
