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
	"sync"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/system/process"
)

// program is a program that a round has started, and what it has said.
type program struct {
	name   string
	cmd    *exec.Cmd
	exited chan struct{}
	began  time.Time
	ended  time.Time // valid when exited is closed
	code   int       // -1: ended by a signal

	mu      sync.Mutex
	text    bytes.Buffer
	spoke   time.Time     // when it last spoke, or was stopped
	longest time.Duration // without a word
	after   string        // the last line before that
	stopped bool          // it cannot speak
}

// start runs a program in a process group of its own: a signal to the harness does not reach it.
func start(name, dir string, env []string, path string, args ...string) (*program, error) {
	p := &program{name: name, exited: make(chan struct{}), began: time.Now(), spoke: time.Now()}
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir, p.cmd.Env = dir, env
	p.cmd.Stdout, p.cmd.Stderr = p, p
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.WaitDelay = 2 * time.Second // a process that it left behind may hold its output
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	go func() {
		_ = p.cmd.Wait()
		p.ended, p.code = time.Now(), p.cmd.ProcessState.ExitCode()
		p.heard(nil, false)
		close(p.exited)
	}()
	return p, nil
}

func (p *program) pid() int { return p.cmd.Process.Pid }

func (p *program) running() bool { return !p.wait(0) }

// wait reports whether the program ended in time.
func (p *program) wait(limit time.Duration) bool {
	select {
	case <-p.exited:
	case <-time.After(limit):
	}
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *program) signal(s syscall.Signal) {
	if !p.running() {
		return
	}
	if s == syscall.SIGSTOP || s == syscall.SIGCONT {
		p.heard(nil, s == syscall.SIGSTOP)
	}
	_ = p.cmd.Process.Signal(s)
}

func (p *program) kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
}

func (p *program) Write(b []byte) (int, error) {
	p.heard(b, false)
	return len(b), nil
}

// heard counts the silence up to now, unless the program was stopped, and notes whether it is stopped from now on.
func (p *program) heard(b []byte, stopped bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := time.Since(p.spoke); d > p.longest && !p.stopped {
		p.longest, p.after = d, last(p.text.String(), 1)
	}
	p.spoke, p.stopped = time.Now(), stopped
	p.text.Write(b)
}

func (p *program) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func (p *program) tail(n int) string { return last(p.said(), n) }

func last(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// done counts the steps that the program said have succeeded.
func (p *program) done() int {
	s := p.said()
	return strings.Count(s, "DONE  ") + strings.Count(s, "HIT  step.")
}

// Roles of processes that redsi started.
const (
	roleServer = "server" // the embedded Temporal server
	roleStep   = "step"   // a program of a step, or what it started
	roleModels = "models" // the second program, which computes
	roleOther  = "other"  // a supervisor, a helper
)

type found struct {
	process.Identity
	role string
	args string
}

// belonging lists the processes of a round, without zombies and the given programs: they have its folder in their
// environment, their arguments or as their working folder.
func belonging(dir string, but ...*program) []found {
	skip := map[int]bool{os.Getpid(): true}
	for _, p := range but {
		skip[p.pid()] = true
	}
	var out []found
	for _, path := range within("/proc", "[1-9]*") {
		pid, err := strconv.Atoi(filepath.Base(path))
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
	id, err := process.Of(pid)
	if err != nil || len(args) == 0 || !id.Running() {
		return found{}, false
	}
	f := found{id, roleOther, strings.TrimSpace(strings.ReplaceAll(string(args), "\x00", " "))}
	program := filepath.Base(string(bytes.SplitN(args, []byte{0}, 2)[0]))
	switch {
	case strings.HasPrefix(program, "temporal"):
		f.role = roleServer
	case program == "redsi-models":
		f.role = roleModels
	case strings.Contains(cwd, "redsi-step-") || strings.Contains(cwd, filepath.Join(dir, "tmp")):
		f.role = roleStep
	}
	return f, true
}

func (f found) signal(s syscall.Signal) {
	if f.Running() {
		_ = syscall.Kill(f.PID, s)
	}
}

func (f found) String() string { return fmt.Sprintf("%s %d: %.200s", f.role, f.PID, f.args) }

// eventually polls until ok, and reports whether it was in time.
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

// within lists what matches a pattern in a folder.
func within(dir, pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, pattern))
	return found
}
