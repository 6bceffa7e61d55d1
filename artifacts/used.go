package artifacts

import (
	"fmt"
	"math"
)

// Used is what a step took of the machine that ran it, with its parts. It is told, for
// people: no key has it, nothing compares it, and what could not be measured is left out.
type Used struct {
	CPU        float64 `json:"cpu_s,omitempty"`       // seconds of processors, user and system
	CPUOf      string  `json:"cpu_of,omitempty"`      // whose: one of CPUOf…
	Memory     int64   `json:"memory,omitempty"`      // bytes, the most at a time
	MemoryOf   string  `json:"memory_of,omitempty"`   // whose: one of MemoryOf…
	Read       int64   `json:"read,omitempty"`        // bytes of inputs, as they were read from the store
	Written    int64   `json:"written,omitempty"`     // bytes that it gave the store
	Card       string  `json:"card,omitempty"`        // it computed on
	CardMemory int64   `json:"card_memory,omitempty"` // bytes of tensors on cards, the most at a time
	Energy     float64 `json:"energy_j,omitempty"`    // joules of the machine while the step ran
	EnergyOf   string  `json:"energy_of,omitempty"`   // what of the machine has a counter
	Beside     int     `json:"beside,omitempty"`      // other steps of the process that ran meanwhile, the most at a time
}

// Whose processor time it is.
const (
	CPUOfProgram = "program" // of the step's program and the processes that it waited for
	CPUOfStep    = "step"    // of the process, in which no other step ran meanwhile
	CPUOfProcess = "process" // of the process, in which other steps ran too: no more than that is known
)

// Whose memory it is.
const (
	MemoryOfProgram = "program" // of the largest process of the step's program
	MemoryOfStep    = "step"    // by which redsi's process grew while no other step ran in it
	MemoryOfProcess = "process" // of the process, whatever was in it: no step's
)

// Own reports whether the processor time is that of the step alone.
func (u *Used) Own() bool {
	return u != nil && (u.CPUOf == CPUOfProgram || u.CPUOf == CPUOfStep)
}

// Validate reports what no step can have used.
func (u *Used) Validate() error {
	if u == nil {
		return nil
	}
	for _, v := range []float64{u.CPU, u.Energy, float64(u.Memory), float64(u.Read), float64(u.Written), float64(u.CardMemory), float64(u.Beside)} {
		if v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Errorf("it used %v of something", v)
		}
	}
	return nil
}
