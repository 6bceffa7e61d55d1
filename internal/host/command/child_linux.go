package command

import (
	"syscall"

	"github.com/redsi/redsi/internal/system"
)

// childAttributes makes the program lead a session of its own, without a terminal
// that it could stop at to ask, and ends it with the thread that starts it.
func childAttributes() *syscall.SysProcAttr {
	a := system.Session()
	a.Pdeathsig = syscall.SIGKILL
	return a
}
