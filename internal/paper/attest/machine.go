package attest

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// Machine is where a step ran, as far as its results may depend on it. It names no host and no person.
type Machine struct {
	OS           string `json:"os"`
	Arch         string `json:"arch"`
	CPU          string `json:"cpu,omitempty"`          // model
	Instructions string `json:"instructions,omitempty"` // in use, such as AVX2; "" if none are chosen
	Processors   int    `json:"processors"`
	Threads      int    `json:"threads,omitempty"` // per operation
	Card         string `json:"card,omitempty"`    // in use
}

// ThisMachine is where this process runs.
func ThisMachine() Machine {
	return Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuModel(), Processors: runtime.NumCPU()}
}

// CPU is the name of this machine's processors, with how many redsi uses.
func CPU() string {
	return fmt.Sprintf("%s, %s", cmp.Or(cpuModel(), runtime.GOARCH), words.Count(runtime.GOMAXPROCS(0), "core"))
}

// Platform distinguishes machines whose results may differ.
func (m Machine) Platform() string {
	return strings.Join([]string{m.OS, m.Arch, m.CPU, m.Instructions, m.Card}, "|")
}

// String describes the machine.
func (m Machine) String() string {
	list := []string{m.OS + "/" + m.Arch}
	list = append(list, lists.Filter([]string{m.CPU, m.Instructions, m.Card}, func(s string) bool { return s != "" })...)
	list = append(list, words.Count(m.Processors, "processor"))
	if m.Threads > 0 {
		list = append(list, words.Count(m.Threads, "thread"))
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
