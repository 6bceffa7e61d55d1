package system

import "syscall"

// Tied has the system end a program with the thread that starts it, and so with this process, however that ends.
func Tied(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	a.Pdeathsig = syscall.SIGKILL
	return a
}
