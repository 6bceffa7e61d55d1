package attest

import (
	"runtime"
	"strings"
)

// Machine is where a step was run, as far as its results may depend on it. It names no
// host and nobody.
type Machine struct {
	OS           string `json:"os"`
	Arch         string `json:"arch"`
	CPU          string `json:"cpu,omitempty"`          // model
	Instructions string `json:"instructions,omitempty"` // that were computed with, such as AVX2; "" where none are chosen
	Processors   int    `json:"processors"`
	Threads      int    `json:"threads,omitempty"` // of an operation
	Card         string `json:"card,omitempty"`    // that was computed on; of older releases all of the machine
}

// ThisMachine is where this process runs.
func ThisMachine() Machine {
	return Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuModel(), Processors: runtime.NumCPU()}
}

// Platform is what tells machines apart of which two results may differ.
func (m Machine) Platform() string {
	return strings.Join([]string{m.OS, m.Arch, m.CPU, m.Instructions, m.Card}, "|")
}

// String is the machine for people.
func (m Machine) String() string {
	list := []string{m.OS + "/" + m.Arch}
	for _, s := range []string{m.CPU, m.Instructions, m.Card} {
		if s != "" {
			list = append(list, s)
		}
	}
	list = append(list, counted(m.Processors, "processor", "processors"))
	if m.Threads > 0 {
		list = append(list, counted(m.Threads, "thread", "threads"))
	}
	return strings.Join(list, ", ")
}

// fieldOf is the value of the first line "name : value".
func fieldOf(text, name string) string {
	for line := range strings.Lines(text) {
		at, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(at) == name {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}
