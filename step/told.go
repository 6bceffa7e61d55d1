package step

import (
	"maps"
	"math"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// Count adds to a number that is kept with the result and shown: records read,
// skipped by reason, documents written.
func (x *IO) Count(name string, n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.counts[name] += n
}

// Note keeps a word about how the step ran with the result, beside the worker's
// environment.
func (x *IO) Note(name, text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.notes[name] = text
}

// NotePrefix begins the names of notes among a result's environment.
const NotePrefix = "step: "

// Notes returns env with the notes of this run.
func (x *IO) Notes(env map[string]string) map[string]string {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := maps.Clone(env)
	for name, text := range x.notes {
		if all == nil {
			all = map[string]string{}
		}
		all[NotePrefix+name] = text
	}
	return all
}

// Keep keeps a file of PutFile with the result, beside its outputs and in none: something
// for people of which the key has the digest.
func (x *IO) Keep(f artifacts.File) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.kept = append(x.kept, f)
}

// Kept is what Keep was given.
func (x *IO) Kept() []artifacts.File {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.kept
}

// Program says what a program that the step ran has used; memory 0 is not known. Of several
// programs the times add up.
func (x *IO) Program(cpu time.Duration, memory int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.used.CPU += cpu.Seconds()
	x.used.CPUOf = artifacts.CPUOfProgram
	if memory > x.used.Memory {
		x.used.Memory, x.used.MemoryOf = memory, artifacts.MemoryOfProgram
	}
}

// moved counts bytes that were read of inputs, and given to the store.
func (x *IO) moved(read, written int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.used.Read += read
	x.used.Written += written
}

// Used adds what the step itself knows that it has used to what was measured of its
// process, which may be nil. For a step that ran a program, the program's counts.
func (x *IO) Used(process *artifacts.Used) *artifacts.Used {
	x.mu.Lock()
	defer x.mu.Unlock()
	u := &artifacts.Used{}
	if process != nil {
		*u = *process
	}
	u.Read, u.Written = x.used.Read, x.used.Written
	if x.used.CPUOf != "" {
		u.CPU, u.CPUOf = math.Round(x.used.CPU*1e6)/1e6, x.used.CPUOf
		u.Memory, u.MemoryOf = x.used.Memory, x.used.MemoryOf
	}
	return u
}
