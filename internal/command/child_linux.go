package command

import "syscall"

// childAttributes makes the program lead a session of its own, without a terminal
// that it could stop at to ask, and ends it with the thread that starts it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
