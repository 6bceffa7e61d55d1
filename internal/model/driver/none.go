//go:build !linux

package driver

import "github.com/redsi/redsi/internal/host/nvidia"

// Look finds no cards: this build cannot ask for them.
func Look() nvidia.Machine { return nvidia.Machine{Why: "this build does not look for GPUs"} }

// Visible finds none, either.
func Visible() nvidia.Process { return nvidia.Process{Why: "this build does not look for GPUs"} }
