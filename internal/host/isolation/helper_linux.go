package isolation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// helperName is the name under which this executable is started as a helper. Its only descriptor beside the standard
// ones is the connection to the process that started it.
const helperName = "redsi: isolates a program"

// Helper isolates a program and does not return, if this process was started for that. It is main's first call.
func Helper() {
	helps.Store(true)
	if len(os.Args) != 1 || os.Args[0] != helperName {
		return
	}
	syscall.CloseOnExec(3)
	f := os.NewFile(3, "connection")
	c, err := net.FileConn(f)
	f.Close()
	if err != nil {
		os.Exit(2)
	}
	h := &helper{conn: c.(*net.UnixConn)}
	h.say(answer{Error: h.run().Error()}) // run returns only if it cannot go on
	os.Exit(2)
}

type helper struct {
	conn  *net.UnixConn
	order order
}

func (h *helper) say(a answer) {
	b, err := json.Marshal(a)
	if err == nil {
		_, err = h.conn.Write(append(b, '\n'))
	}
	if err != nil {
		os.Exit(2) // nobody listens
	}
}

// run does all of a helper's work. What becomes or starts the program is one thread, which alone is restricted.
func (h *helper) run() error {
	if err := json.NewDecoder(h.conn).Decode(&h.order); err != nil {
		return err
	}
	dir := h.order.Dir
	if h.order.Mode == Enforce {
		dir = Folder
		if err := arrange(h.order); err != nil {
			return err
		}
	} else if err := bind(h.order.Binds); err != nil {
		return err
	}
	if err := unix.Chdir(dir); err != nil {
		return fmt.Errorf("enter the step's folder: %w", err)
	}
	if h.order.Mode == Off {
		runtime.LockOSThread()
		if err := h.leaveMounting(); err != nil {
			return err
		}
		h.exec(syscall.Exec(h.order.Program, h.order.Argv, h.order.Env))
	}
	var listener int
	restricted, begin, ended := make(chan error), make(chan struct{}), make(chan int)
	go func() {
		runtime.LockOSThread() // and never unlocked: nothing else runs on what is restricted
		var err error
		listener, err = h.restrict()
		restricted <- err
		<-begin
		if h.order.Mode == Warn {
			h.exec(syscall.Exec(h.order.Program, h.order.Argv, h.order.Env))
		}
		pid, err := syscall.ForkExec(h.order.Program, h.order.Argv, &syscall.ProcAttr{
			Env: h.order.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true}})
		if err != nil {
			h.exec(err)
		}
		ended <- pid
	}()
	if err := <-restricted; err != nil {
		return err
	}
	if _, _, err := h.conn.WriteMsgUnix([]byte("{}\n"), unix.UnixRights(listener), nil); err != nil {
		return err
	}
	unix.Close(listener)
	if _, err := h.conn.Read(make([]byte, 1)); err != nil {
		return err
	}
	close(begin)
	pid := <-ended // only under Enforce: else the program has taken the place of this process
	h.say(answer{Began: true})
	h.reap(pid)
	return nil
}

// exec reports why the program does not start, and ends the helper.
func (h *helper) exec(err error) {
	errno, _ := errors.AsType[syscall.Errno](err)
	h.say(answer{Exec: cmp.Or(errno, syscall.EINVAL)})
	os.Exit(2)
}

// reap collects ended processes, as the first process of a namespace has to, until the program has ended. The end of
// this process then ends all that the program left.
func (h *helper) reap(program int) {
	for _, fd := range []int{0, 1, 2} {
		unix.Close(fd) // whoever reads them to their end must not wait for this process
	}
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			os.Exit(2)
		}
		if pid == program && (ws.Exited() || ws.Signaled()) {
			h.say(answer{Status: new(uint32(ws))})
			os.Exit(0)
		}
	}
}

// restrict takes from this thread the rights that the program shall not have, and returns a descriptor to watch it by.
func (h *helper) restrict() (int, error) {
	if h.order.Mode == Enforce {
		if err := dropRights(); err != nil {
			return 0, fmt.Errorf("drop rights: %w", err)
		}
	} else if err := h.leaveMounting(); err != nil {
		return 0, fmt.Errorf("drop rights: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("no_new_privs: %w", err)
	}
	if h.order.Mode == Enforce {
		if err := landlock(h.order.Reads); err != nil {
			return 0, err
		}
	}
	listener, err := listen()
	if err != nil {
		return 0, fmt.Errorf("watch what it does (seccomp user notification, Linux 5.6): %w", err)
	}
	return listener, nil
}

// leaveMounting takes from this thread the right to mount, which a helper that is not root's has in its namespace.
func (h *helper) leaveMounting() error {
	if len(h.order.Binds) == 0 || os.Getuid() == 0 {
		return nil
	}
	return dropCapabilities()
}

// dropRights takes all capabilities from this thread, and the ways to get them back, even for account number 0.
func dropRights() error {
	for c := uintptr(0); c <= 63; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); errors.Is(err, unix.EINVAL) {
			break // the kernel's last capability was the one before
		} else if err != nil {
			return err
		}
	}
	const noRoot, noRootLocked = 1 << 0, 1 << 1 // SECBIT_NOROOT, SECBIT_NOROOT_LOCKED
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot|noRootLocked, 0, 0, 0); err != nil {
		return err
	}
	return dropCapabilities()
}

func dropCapabilities() error {
	none := [2]unix.CapUserData{}
	return errors.Join(unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0),
		unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]))
}
