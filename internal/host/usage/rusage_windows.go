package usage

import (
	"syscall"
	"time"
)

// What this process used is not known on Windows.
func self() (r syscall.Rusage, ok bool) { return r, false }

// CPU returns the processor time in a record of the system, user and system.
func CPU(r *syscall.Rusage) time.Duration {
	ticks := func(f syscall.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) } // of 100 ns
	return time.Duration(100 * (ticks(r.UserTime) + ticks(r.KernelTime)))
}

// MaxMemory is not in a record on Windows.
func MaxMemory(*syscall.Rusage) int64 { return 0 }
