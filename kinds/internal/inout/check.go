package inout

import (
	"fmt"
	"path"
	"strings"

	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/step"
)

// Or is what a pointer points to, or a default.
func Or[T any](p *T, otherwise T) T {
	if p != nil {
		return *p
	}
	return otherwise
}

// Check adds a problem with the attribute at path unless ok. Each attribute has problems of
// its own, so that the one in question is shown.
func Check(ps *step.Problems, path string, ok bool, format string, args ...any) {
	if !ok {
		*ps = append(*ps, step.Problem{Path: path, Detail: fmt.Sprintf(format, args...)})
	}
}

// Checks is the Check of a Kind that adds all problems of a configuration.
func Checks[C any](add func(C, *step.Problems)) func(C) error {
	return func(c C) error {
		var ps step.Problems
		add(c, &ps)
		return ps.Err()
	}
}

// CheckDevice adds that there is no such device, or that a card is asked for what it does not compute.
func CheckDevice(ps *step.Problems, on, precision string) {
	*ps = append(*ps, device.Check(on)...)
	Check(ps, "precision", precision != "int8" || !strings.HasPrefix(on, "cuda"), "int8 is computed on processors only; use bf16, or device cpu")
}

// CheckError adds what err says of the attribute at path, if there is an error.
func CheckError(ps *step.Problems, path string, err error) {
	if err != nil {
		*ps = append(*ps, step.Problem{Path: path, Detail: err.Error()})
	}
}

// CheckPattern adds that a pattern of path.Match is none.
func CheckPattern(ps *step.Problems, at, pattern string) {
	_, err := path.Match(pattern, "")
	Check(ps, at, err == nil, "%q is not a pattern of names", pattern)
}

// Tasks are parts of a step, by their configurations.
func Tasks[C any](of step.Part[C], parts []C) ([]step.Task, error) {
	var tasks []step.Task
	for _, c := range parts {
		t, err := of.Task(c)
		if err != nil {
			return nil, step.Permanent(err)
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// Adding is a function that adds problems, for checks of many branches.
func Adding(ps *step.Problems) func(path, format string, args ...any) {
	return func(path, format string, args ...any) { Check(ps, path, false, format, args...) }
}

// Telling is for work that waits for a server: progress says how far the step is, and log what holds
// it up, in its log and beside its progress until there is more. A name is before that.
func Telling(x *step.IO, unit, name string) (progress func(done, total int64), log func(msg string, args ...any)) {
	at := step.Progress{Unit: unit, Note: name}
	progress = func(done, total int64) {
		at.Done, at.Total, at.Note = done, total, name
		x.Report(at)
	}
	log = func(msg string, args ...any) {
		x.Log.Warn(msg, args...)
		at.Note = strings.TrimPrefix(name+": "+msg, ": ")
		x.Report(at)
	}
	return progress, log
}
