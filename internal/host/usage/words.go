package usage

import (
	"fmt"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/words"
)

// Row is a figure with its name.
type Row struct{ What, Value string }

// Rows says what a step used, and whose each figure is; nothing for a step that was not measured.
func Rows(u *artifacts.Used) (rows []Row) {
	if u == nil {
		return nil
	}
	add := func(what, format string, args ...any) { rows = append(rows, Row{what, fmt.Sprintf(format, args...)}) }
	beside := ""
	if u.Beside > 0 {
		beside = fmt.Sprintf(", beside %s", words.Count(u.Beside, "other step"))
	}
	switch u.CPUOf {
	case "":
	case artifacts.CPUOfProgram:
		add("processor time", "%s of its program", duration(u.CPU))
	case artifacts.CPUOfStep:
		add("processor time", "%s", duration(u.CPU))
	default:
		add("processor time", "at most %s: of the process%s", duration(u.CPU), beside)
	}
	switch u.MemoryOf {
	case "":
	case artifacts.MemoryOfProgram:
		add("memory", "%s at most, of its program's largest process", words.Size(u.Memory))
	case artifacts.MemoryOfStep:
		add("memory", "%s at most, by which the process grew", words.Size(u.Memory))
	default:
		add("memory", "%s at most, of the process%s", words.Size(u.Memory), beside)
	}
	add("read", "%s of inputs", words.Size(u.Read))
	add("written", "%s", words.Size(u.Written))
	if u.Card != "" {
		add("card", "%s", u.Card)
	}
	if u.CardMemory > 0 {
		add("memory on cards", "%s at most, of the process's tensors", words.Size(u.CardMemory))
	}
	if u.EnergyOf != "" {
		add("energy", "%s of the machine's %s while the step ran%s", energy(u.Energy), u.EnergyOf, beside)
	}
	return rows
}

// Rows says what the steps used together, and of how many steps each figure is.
func (s Sum) Rows() (rows []Row) {
	add := func(what, format string, args ...any) { rows = append(rows, Row{what, fmt.Sprintf(format, args...)}) }
	of := func(n int) string {
		if n == s.Steps {
			return ""
		}
		return fmt.Sprintf(", known of %d of %s", n, words.Count(s.Steps, "step"))
	}
	add("time", "%s, one step after another", duration(s.Took.Seconds()))
	if s.CPUSteps > 0 {
		add("processor time", "%s%s", duration(s.CPU), of(s.CPUSteps))
	}
	if s.MemSteps > 0 {
		add("memory", "%s at most by one step%s", words.Size(s.Memory), of(s.MemSteps))
	}
	if s.CardMemory > 0 {
		add("on cards", "%s of steps, with at most %s by one", duration(s.CardTook.Seconds()), words.Size(s.CardMemory))
	}
	if s.Measured > 0 {
		add("read", "%s of inputs%s", words.Size(s.Read), of(s.Measured))
		add("written", "%s%s", words.Size(s.Written), of(s.Measured))
	}
	if s.EnergyOf > 0 {
		shared := ""
		if s.Shared > 0 {
			shared = fmt.Sprintf("; %d of them beside others, so it is counted more than once", s.Shared)
		}
		add("energy", "%s of machines while %s ran%s", energy(s.Energy), words.Count(s.EnergyOf, "step"), shared)
	}
	return rows
}

// duration says seconds for people, from ten hours on in hours.
func duration(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case d >= 10*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", seconds)
	default:
		return fmt.Sprintf("%.0f ms", seconds*1000)
	}
}

func energy(joules float64) string {
	if joules < 36_000 {
		return fmt.Sprintf("%.1f J", joules)
	}
	return fmt.Sprintf("%.2f kWh", joules/3.6e6)
}
