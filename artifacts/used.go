package artifacts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
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

// Memory is the most bytes of memory that r's step had at a time; 0 if that is not known.
func (r *Result) Memory() int64 {
	if u := r.Used; u != nil && (u.MemoryOf == MemoryOfProgram || u.MemoryOf == MemoryOfStep) {
		return u.Memory
	}
	return 0
}

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

// With adds up what a step and its parts used. A sum is there only if every term is; the
// most memory is that of one of them. Where nothing of a part was measured, nothing is known
// of all.
func (u *Used) With(parts []Result) *Used {
	if u == nil || len(parts) == 0 {
		return u
	}
	all := make([]*Used, 1, 1+len(parts))
	all[0] = u
	for i := range parts {
		if parts[i].Used == nil {
			return nil
		}
		all = append(all, parts[i].Used)
	}
	sum := &Used{}
	everyHas := func(has func(*Used) bool) bool {
		return !slices.ContainsFunc(all, func(x *Used) bool { return !has(x) })
	}
	cpu := everyHas(func(x *Used) bool { return x.CPUOf != "" })
	memory := everyHas(func(x *Used) bool { return x.MemoryOf != "" })
	energy := everyHas(func(x *Used) bool { return x.EnergyOf != "" })
	var cards, counters []string
	for _, x := range all {
		sum.Read += x.Read
		sum.Written += x.Written
		sum.Beside = max(sum.Beside, x.Beside)
		if cpu {
			sum.CPU += x.CPU
			sum.CPUOf = widest(sum.CPUOf, x.CPUOf)
		}
		if memory && x.Memory > sum.Memory {
			sum.Memory, sum.MemoryOf = x.Memory, x.MemoryOf
		}
		if energy {
			sum.Energy += x.Energy
			counters = append(counters, x.EnergyOf)
		}
		sum.CardMemory = max(sum.CardMemory, x.CardMemory)
		if x.Card != "" {
			cards = append(cards, x.Card)
		}
	}
	sum.Card, sum.EnergyOf = distinct(cards), distinct(counters)
	return sum
}

// widest is whose a sum is, of two terms.
func widest(a, b string) string {
	order := []string{"", CPUOfProgram, CPUOfStep, CPUOfProcess}
	if cmp.Compare(slices.Index(order, b), slices.Index(order, a)) > 0 {
		return b
	}
	return a
}

// distinct joins texts that differ, in their order.
func distinct(list []string) string {
	slices.Sort(list)
	return strings.Join(slices.Compact(list), "; ")
}
