package usage

import (
	"syscall"
	"time"
)

// Here returns this process and machine, with further counters of energy.
func Here(counters ...Counter) Machine {
	return Machine{CPU: ownCPU, Memory: Level{Now: resident(), High: mostResident}, Energy: append(processorEnergy(powercap), counters...)}
}

func ownCPU() (time.Duration, bool) {
	r, ok := self()
	return CPU(&r), ok
}

// Program is what the processes of a program used, with the processes that it waited for.
type Program struct {
	CPU    time.Duration
	Memory int64 // bytes of the largest process; 0: not known
}

// OfProgram reads the system's record of a program that this process started when it had own bytes of memory itself.
// Linux counts them as the program's, so only a number above them is known to be the program's.
func OfProgram(r *syscall.Rusage, own int64) Program {
	p := Program{CPU: CPU(r)}
	if n := MaxMemory(r); n > own {
		p.Memory = n
	}
	return p
}

// Own returns the most memory that this process has had.
func Own() int64 {
	n, _ := mostResident()
	return n
}
