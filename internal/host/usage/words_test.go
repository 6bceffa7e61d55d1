package usage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/testkit"
)

func said(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s: %s\n", r.What, r.Value)
	}
	return b.String()
}

// TestRows: each figure says whose it is, and what is not known is not there.
func TestRows(t *testing.T) {
	for want, u := range map[string]*artifacts.Used{
		"": nil,
		"memory: 8 B at most, by which the process grew\nread: 0 B of inputs\nwritten: 0 B\n": {Memory: 8, MemoryOf: artifacts.MemoryOfStep},
		"processor time: 12.5 s of its program\nread: 5 B of inputs\nwritten: 0 B\n":          {CPU: 12.5, CPUOf: artifacts.CPUOfProgram, Read: 5},
		"processor time: at most 1m30s: of the process, beside 1 other step\nmemory: 1.0 GB at most, of the process, beside 1 other step\nread: 0 B of inputs\nwritten: 7 B\n" +
			"card: X\nmemory on cards: 9 B at most, of the process's tensors\nenergy: 1.00 kWh of the machine's cards while the step ran, beside 1 other step\n": {CPU: 90, CPUOf: artifacts.CPUOfProcess, Memory: 1e9, MemoryOf: artifacts.MemoryOfProcess,
			Written: 7, Card: "X", CardMemory: 9, Energy: 3.6e6, EnergyOf: "cards", Beside: 1},
	} {
		testkit.Is(t, said(Rows(u)), want)
	}
}

// TestSum: a sum says of how many steps it is.
func TestSum(t *testing.T) {
	var s Sum
	s.Add(20*time.Hour, nil)
	s.Add(time.Second, &artifacts.Used{CPU: 2, CPUOf: artifacts.CPUOfStep, Read: 1, Written: 2, Memory: 8, MemoryOf: artifacts.MemoryOfStep})
	s.Add(time.Hour, &artifacts.Used{CPU: 100, CPUOf: artifacts.CPUOfProcess, Memory: 1e9, MemoryOf: artifacts.MemoryOfProcess, Energy: 5, EnergyOf: "processors", Beside: 3, Card: "X", CardMemory: 7})
	want := "time: 21.0 h, one step after another\nprocessor time: 2.0 s, known of 1 of 3 steps\nmemory: 8 B at most by one step, known of 1 of 3 steps\n" +
		"on cards: 1h0m0s of steps, with at most 7 B by one\nread: 1 B of inputs, known of 2 of 3 steps\nwritten: 2 B, known of 2 of 3 steps\n" +
		"energy: 5.0 J of machines while 1 step ran; 1 of them beside others, so it is counted more than once\n"
	testkit.Is(t, said(s.Rows()), want)
}
