package system

import "syscall"

// Tied has the system end a program with the thread that starts it, so with this process,
// whichever way that ends.
func Tied(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	a.Pdeathsig = syscall.SIGKILL
	return a
}
