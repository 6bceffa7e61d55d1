package usage

import (
	"runtime"
	"syscall"
	"time"
)

// Here is this process and machine, with counters of energy that somebody else reads.
func Here(counters ...Counter) Machine {
	m := Machine{CPU: ownCPU, Memory: Level{Now: resident(), High: mostResident}, Energy: processorEnergy(powercap)}
	m.Energy = append(m.Energy, counters...)
	return m
}

func ownCPU() (time.Duration, bool) {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0, false
	}
	return CPU(&r), true
}

func mostResident() (int64, bool) {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0, false
	}
	return MaxMemory(&r), true
}

// Program is what the processes of a program used, those that it waited for included.
type Program struct {
	CPU    time.Duration
	Memory int64 // bytes of the largest process; 0: not known
}

// OfProgram reads what the system recorded of a program that this process started, and
// which had so much memory itself at the start. Linux counts that for the program's too,
// so only what is above it is the program's.
func OfProgram(r *syscall.Rusage, own int64) Program {
	p := Program{CPU: CPU(r)}
	if n := MaxMemory(r); n > own {
		p.Memory = n
	}
	return p
}

// Own is the most memory that this process has had.
func Own() int64 {
	n, _ := mostResident()
	return n
}

// CPU is the processor time of a record of the system, user and system.
func CPU(r *syscall.Rusage) time.Duration {
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// MaxMemory is the most memory that a record of the system has, in bytes.
func MaxMemory(r *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return int64(r.Maxrss)
	}
	return int64(r.Maxrss) << 10
}
