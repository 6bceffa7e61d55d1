//go:build !linux

package system

import "syscall"

// Tied changes nothing: only Linux ends a program with the process that starts it.
func Tied(a *syscall.SysProcAttr) *syscall.SysProcAttr { return a }

// FileSystem is not known.
func FileSystem(string) (kind, options string) { return "", "" }
