// Package process tells a process from others that have had its number, by when it started, in which boot of which
// machine. It ends processes that are identified so, never by a name.
//
// It owns no process. It must not know what redsi runs.
package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/system"
)

// Identity is a process of some machine, at any time.
type Identity struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // as the kernel counts it; it differs for another process of that number
	Host
}

// Host is a machine between two boots, and the numbering of its processes.
type Host struct {
	Machine string `json:"machine"`             // host name: it outlives a boot
	Boot    string `json:"boot"`                // identifier of the boot
	Numbers string `json:"namespace,omitempty"` // of process numbers; containers have their own
}

// ErrGone says that there is no such process.
var ErrGone = errors.New("no such process")

// Of identifies the process that has a number now; the error is ErrGone if there is none.
func Of(pid int) (Identity, error) {
	start, err := startOf(pid)
	if err != nil {
		return Identity{}, err
	}
	h, err := Here()
	return Identity{pid, start, h}, err
}

// Self is this process.
func Self() (Identity, error) { return Of(os.Getpid()) }

// Here is this machine in its present boot.
func Here() (Host, error) {
	h := here.Load()
	if h == nil {
		boot, numbers, err := bootID()
		if err != nil {
			return Host{}, fmt.Errorf("identify this boot: %w", err)
		}
		h = &Host{Boot: boot, Numbers: numbers}
		here.Store(h)
	}
	machine, err := os.Hostname()
	return Host{machine, h.Boot, h.Numbers}, err
}

// here caches what stays the same as long as this process lives.
var here atomic.Pointer[Host]

// Running reports whether this very process runs, on this machine. An ended one that waits to be collected does not.
func (i Identity) Running() bool {
	now, err := Of(i.PID)
	return err == nil && now.Start == i.Start && now.Boot == i.Boot && now.Numbers == i.Numbers
}

// Stopped reports whether this very process is stopped, by a signal, on this machine.
func (i Identity) Stopped() bool { return i.Running() && strings.EqualFold(State(i.PID), "T") }

// EndGroup kills the process group that i leads; it is no error if i has ended.
func (i Identity) EndGroup() error {
	if i.PID <= 1 || !i.Running() {
		return nil
	}
	return system.KillGroup(i.PID)
}

// End kills the process; it is no error if the process has ended.
func (i Identity) End() error {
	p, err := os.FindProcess(i.PID) // on Linux a handle of the process, whatever becomes of its number
	if err != nil || i.PID <= 1 {
		return nil
	}
	defer p.Release()
	if !i.Running() {
		return nil
	}
	if err = p.Kill(); errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// AwaitEnd waits until the process has ended, so long at most, and reports whether it has.
func (i Identity) AwaitEnd(most time.Duration) bool {
	for end := time.Now().Add(most); i.Running(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
