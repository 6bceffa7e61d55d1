//go:build unix

package usage

import (
	"runtime"
	"syscall"
	"time"
)

// self returns the system's record of this process.
func self() (r syscall.Rusage, ok bool) {
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return r, err == nil
}

// CPU returns the processor time in a record of the system, user and system.
func CPU(r *syscall.Rusage) time.Duration { return time.Duration(r.Utime.Nano() + r.Stime.Nano()) }

// MaxMemory returns the most memory in a record of the system, in bytes.
func MaxMemory(r *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return int64(r.Maxrss)
	}
	return int64(r.Maxrss) << 10
}
