//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// process is one that a round has started itself.
type process struct {
	name   string
	cmd    *exec.Cmd
	out    *output
	exited chan struct{}
	began  time.Time
	ended  time.Time // valid when exited is closed
	code   int       // -1: ended by a signal
}

// start runs a program in a process group of its own, so that a signal to the
// harness is not one to it.
func start(name, dir string, env []string, program string, args ...string) (*process, error) {
	p := &process{name: name, exited: make(chan struct{}), began: time.Now()}
	p.out = &output{last: p.began}
	p.cmd = exec.Command(program, args...)
	p.cmd.Dir, p.cmd.Env = dir, env
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.WaitDelay = 2 * time.Second // one that it left behind may hold its output
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	go func() {
		_ = p.cmd.Wait()
		p.ended, p.code = time.Now(), p.cmd.ProcessState.ExitCode()
		close(p.exited)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// wait reports whether the process ended in time.
func (p *process) wait(limit time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(limit):
		return false
	}
}

func (p *process) signal(s syscall.Signal) {
	switch s {
	case syscall.SIGSTOP:
		p.out.freeze()
	case syscall.SIGCONT:
		p.out.thaw()
	}
	if p.running() {
		_ = p.cmd.Process.Signal(s)
	}
}

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
}

// Roles of processes that a round did not start itself.
const (
	roleServer = "server" // the embedded Temporal server
	roleStep   = "step"   // a program of a step, or what it started
	roleModels = "models" // the second program, which computes
	roleOther  = "other"  // a supervisor, a helper
)

// found is a process that belongs to a round.
type found struct {
	pid   int
	role  string
	args  string
	start string // when the kernel says that it began
}

// belonging lists the processes of a round but those given: they have its folder
// in their environment, their arguments or as their working folder. Zombies are
// not listed.
func belonging(dir string, but ...*process) []found {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	skip := map[int]bool{os.Getpid(): true}
	for _, p := range but {
		skip[p.pid()] = true
	}
	var out []found
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || skip[pid] {
			continue
		}
		if f, ok := look(pid, dir); ok {
			out = append(out, f)
		}
	}
	return out
}

func look(pid int, dir string) (found, bool) {
	base := filepath.Join("/proc", strconv.Itoa(pid))
	args, _ := os.ReadFile(filepath.Join(base, "cmdline"))
	environ, _ := os.ReadFile(filepath.Join(base, "environ"))
	cwd, _ := os.Readlink(filepath.Join(base, "cwd"))
	in := []byte(dir + "/")
	if !bytes.Contains(args, in) && !bytes.Contains(environ, in) && !strings.HasPrefix(cwd+"/", dir+"/") {
		return found{}, false
	}
	stat, err := os.ReadFile(filepath.Join(base, "stat"))
	if err != nil {
		return found{}, false
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" || len(args) == 0 {
		return found{}, false
	}
	f := found{pid: pid, start: fields[19], args: strings.TrimSpace(strings.ReplaceAll(string(args), "\x00", " "))}
	program := filepath.Base(string(bytes.SplitN(args, []byte{0}, 2)[0]))
	switch {
	case strings.HasPrefix(program, "temporal"):
		f.role = roleServer
	case program == "redsi-models":
		f.role = roleModels
	case strings.Contains(cwd, "redsi-step-") || strings.Contains(cwd, filepath.Join(dir, "tmp")):
		f.role = roleStep
	default:
		f.role = roleOther
	}
	return f, true
}

// alive reports whether it is still the same process.
func (f found) alive(dir string) bool {
	now, ok := look(f.pid, dir)
	return ok && now.start == f.start
}

func (f found) signal(dir string, s syscall.Signal) {
	if f.alive(dir) {
		_ = syscall.Kill(f.pid, s)
	}
}

func (f found) String() string { return fmt.Sprintf("%s %d: %.200s", f.role, f.pid, f.args) }

// eventually polls until ok, and reports whether that was in time.
func eventually(limit time.Duration, ok func() bool) bool {
	for end := time.Now().Add(limit); ; {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// unlocked reports whether nobody holds the lock of a file.
func unlocked(path string) bool {
	l := flock.New(path, flock.SetFlag(os.O_RDONLY)) // nothing is made by asking
	defer l.Close()
	free, err := l.TryLock()
	return free || err != nil
}
