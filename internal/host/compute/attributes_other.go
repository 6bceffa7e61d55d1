//go:build !linux

package compute

import "syscall"

// attributes are the usual: a process ends when its pipe does.
func attributes() *syscall.SysProcAttr { return nil }
