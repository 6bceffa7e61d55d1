//go:build !linux

package command

import (
	"syscall"

	"github.com/redsi/redsi/internal/system"
)

// childAttributes makes the program lead a session of its own, without a terminal
// that it could stop at to ask.
func childAttributes() *syscall.SysProcAttr { return system.Session() }
