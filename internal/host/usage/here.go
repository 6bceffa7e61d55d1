package usage

import (
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
	r, ok := self()
	return CPU(&r), ok
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
