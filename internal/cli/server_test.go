package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// serverPatience bounds what a busy machine may take.
const serverPatience = 8 * time.Minute

// project is a folder with a pipeline of n steps that each take a moment.
func project(t *testing.T, n int) string { return projectOf(t, n, "sleep 0.1") }

// gated is a project whose steps do not end before open is called.
func gated(t *testing.T, n int) (dir string, open func()) { return gatedFrom(t, n, 0) }

// gatedFrom is a project of n steps that each take a moment; those from a number on do not
// end before open is called.
func gatedFrom(t *testing.T, n, from int) (dir string, open func()) {
	gate := filepath.Join(t.TempDir(), "gate")
	return projectOf(t, n, fmt.Sprintf("if test ${each.key} -lt %d; then sleep 0.1; else until test -e %s; do sleep 0.1; done; fi", from, gate)), func() {
		filetest.Write(t, gate, "")
	}
}

func projectOf(t *testing.T, n int, work string) string {
	t.Helper()
	dir := t.TempDir()
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("%q", fmt.Sprint(i)))
	}
	src := fmt.Sprintf(`step "command" "one" {
  for_each = [%s]
  argv     = ["sh", "-c", "%s; echo ${each.key} > out/out.txt"]
  outputs  = ["out.txt"]
}
`, strings.Join(keys, ", "), work)
	filetest.Write(t, filepath.Join(dir, "pipelines.hcl"), src)
	t.Cleanup(func() { // the folder goes when the server has
		awaitTrue(t, "the server ends", func() bool { _, ok := devserver.Running(filepath.Join(dir, ".redsi", "temporal")); return !ok })
	})
	return dir
}

// redsiProcess is this program, running as redsi in dir.
type redsiProcess struct {
	*exec.Cmd
	out  *lockedBuffer
	done chan struct{}
	err  error
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func startRedsi(t *testing.T, dir string, args ...string) *redsiProcess {
	t.Helper()
	return startRedsiWith(t, dir, nil, args...)
}

// startRedsiWith starts it with variables of the environment.
func startRedsiWith(t *testing.T, dir string, env []string, args ...string) *redsiProcess {
	t.Helper()
	self, err := os.Executable()
	errtest.None(t, err)
	as := filepath.Join(t.TempDir(), "redsi") // testscript runs the command of that name
	errtest.None(t, os.Symlink(self, as))
	p := &redsiProcess{Cmd: exec.Command(as, args...), out: &lockedBuffer{}, done: make(chan struct{})}
	p.Dir, p.Stdout, p.Stderr, p.Env = dir, p.out, p.out, append(os.Environ(), env...)
	errtest.None(t, p.Start())
	go func() { p.err = p.Wait(); close(p.done) }()
	t.Cleanup(func() { _ = p.Process.Kill(); <-p.done })
	return p
}

// succeeds waits for the end of a process, which is a good one.
func (p *redsiProcess) succeeds(t *testing.T) {
	t.Helper()
	select {
	case <-p.done:
		if p.err != nil {
			t.Fatalf("%v: %v\n%s", p.Args[1:], p.err, p.out)
		}
	case <-time.After(serverPatience):
		t.Fatalf("%v has not ended:\n%s", p.Args[1:], p.out)
	}
}

// goesOn fails if the process has ended.
func (p *redsiProcess) goesOn(t *testing.T) {
	t.Helper()
	select {
	case <-p.done:
		t.Fatalf("%v has ended: %v\n%s", p.Args[1:], p.err, p.out)
	default:
	}
}

// says waits until the process, which goes on, has said something.
func (p *redsiProcess) says(t *testing.T, text string) {
	t.Helper()
	awaitTrue(t, fmt.Sprintf("%v says %q", p.Args[1:], text), func() bool {
		said := strings.Contains(p.out.String(), text)
		if !said {
			p.goesOn(t)
		}
		return said
	})
}

func awaitTrue(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(serverPatience); !f(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// nextServer waits for a server of dir other than the last.
func nextServer(t *testing.T, dir string, last int, p *redsiProcess) (pid int) {
	t.Helper()
	awaitTrue(t, "a server answers", func() bool {
		p.goesOn(t)
		i, ok := devserver.Running(filepath.Join(dir, ".redsi", "temporal"))
		pid = i.PID
		return ok && pid != last
	})
	return pid
}

// TestServerKilled20Times: a run whose server is killed 20 times ends well.
func TestServerKilled20Times(t *testing.T) {
	t.Parallel()
	dir, open := gatedFrom(t, 60, 59) // however fast the machine is, the run has not ended before the last kill
	run := startRedsi(t, dir, "run", "--quiet")
	run.says(t, "RUN")
	pid, r := 0, rand.New(rand.NewPCG(10, 8))
	for range 20 {
		pid = nextServer(t, dir, pid, run)
		time.Sleep(time.Duration(r.IntN(1000)) * time.Millisecond) // some die at once, some at work
		errtest.None(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	open()
	run.succeeds(t)
	if said := run.out.String(); !strings.Contains(said, "60 steps: ") || !strings.Contains(said, "was started in its place") {
		t.Errorf("it said:\n%s", said)
	}
}

// TestLeaverHarmsNobody: who started the server leaves by Ctrl-C, and another one
// is stopped for a while: the run that shares the server ends well.
func TestLeaverHarmsNobody(t *testing.T) {
	t.Parallel()
	dir, open := gated(t, 100)
	first := startRedsi(t, dir, "run", "--quiet")
	first.says(t, "RUN")
	second := startRedsi(t, dir, "run", "--quiet") // its steps wait: all slots have the first run's
	second.says(t, "Temporal UI:")
	pid := nextServer(t, dir, 0, second)
	errtest.None(t, first.Process.Signal(syscall.SIGINT))
	errtest.None(t, syscall.Kill(pid, syscall.SIGSTOP))
	second.says(t, "is stopped (state T)")
	errtest.None(t, syscall.Kill(pid, syscall.SIGCONT))
	open()
	second.succeeds(t)
	<-first.done
	if !strings.Contains(first.out.String(), "was cancelled") {
		t.Errorf("the first run said:\n%s", first.out)
	}
}

// TestDevServerKilled: redsi dev survives its server, and so does a run beside it.
func TestDevServerKilled(t *testing.T) {
	t.Parallel()
	dir := project(t, 20)
	dev := startRedsi(t, dir, "dev", "--port", "0", "--ui-port", "0")
	pid := nextServer(t, dir, 0, dev)
	errtest.None(t, syscall.Kill(pid, syscall.SIGKILL))
	startRedsi(t, dir, "run", "--quiet").succeeds(t)
	errtest.None(t, dev.Process.Signal(syscall.SIGINT))
	dev.succeeds(t)
}
