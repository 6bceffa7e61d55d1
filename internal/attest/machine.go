package attest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	Card         string `json:"card,omitempty"`
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

// Cards are the models of the CUDA cards that the driver names, each kind once.
func Cards() string { return cardsIn("/proc/driver/nvidia/gpus") }

func cardsIn(folder string) string {
	files, _ := filepath.Glob(filepath.Join(folder, "*", "information"))
	count := map[string]int{}
	var models []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		if model := fieldOf(string(b), "Model"); model != "" {
			if count[model]++; count[model] == 1 {
				models = append(models, model)
			}
		}
	}
	slices.Sort(models)
	for i, m := range models {
		if count[m] > 1 {
			models[i] = fmt.Sprintf("%s × %d", m, count[m])
		}
	}
	return strings.Join(models, ", ")
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
