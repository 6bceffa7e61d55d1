package devserver

import "syscall"

// childAttributes puts the server in a process group of its own, so that Ctrl-C
// reaches it only after the run has been cancelled, and ends it with us.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
