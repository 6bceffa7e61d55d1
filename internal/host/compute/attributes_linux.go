package compute

import "syscall"

// attributes have the system end a process with this one, whichever way that ends.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
