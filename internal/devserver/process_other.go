//go:build !linux

package devserver

import "syscall"

// childAttributes puts the server in a process group of its own, so that Ctrl-C
// reaches it only after the run has been cancelled. A server left behind by a
// killed process is ended by the next start.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
