//go:build !linux

package isolation

import (
	"errors"
	"os/exec"
	"syscall"
)

// Helper does nothing where nothing can be isolated.
func Helper() {}

// Start fails: only Linux has what it takes.
func (b Box) Start(*exec.Cmd) (*Running, error) {
	return nil, &SetupError{b.Mode, errors.New("it needs Linux")}
}

// WithBinds fails: only Linux has what it takes.
func (b Box) WithBinds(func(*Box) error) error { return &BindError{errors.New("it needs Linux")} }

// Running is a program that runs in a box.
type Running struct{}

// End returns what was found, and how the program ended if that is known.
func (*Running) End() (Findings, *syscall.WaitStatus) { return Findings{}, nil }
