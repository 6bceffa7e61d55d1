package devserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/api/workflowservice/v1"
)

const pidFile = "temporal.pid"

// startBound starts cmd from a thread that lives as long as the process does:
// Linux ends the child when the thread that made it dies.
func startBound(cmd *exec.Cmd, exited chan struct{}) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		_ = cmd.Wait()
		close(exited)
	}()
	return <-started
}

// endOrphan ends a server that an earlier, killed process of this folder left
// running: two servers cannot share a database file.
func endOrphan(dir string) error {
	path := filepath.Join(dir, pidFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil // none recorded
	}
	defer os.Remove(path)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || !isServer(pid, dir) {
		return nil
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil
	}
	_ = p.Signal(syscall.SIGTERM)
	for range 50 {
		if p.Signal(syscall.Signal(0)) != nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return p.Kill()
}

// isServer reports whether pid runs a temporal server on this folder's database.
func isServer(pid int, dir string) bool {
	out, err := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), "start-dev") && strings.Contains(string(out), dir)
}

func describeDefault() *workflowservice.DescribeNamespaceRequest {
	return &workflowservice.DescribeNamespaceRequest{Namespace: "default"}
}
