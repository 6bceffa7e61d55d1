package inout

import (
	"fmt"
	"path"
	"strings"

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

// CheckInt8 says that a card was asked for what it does not compute.
func CheckInt8(precision, on string) (ps step.Problems) {
	Check(&ps, "precision", precision != "int8" || !strings.HasPrefix(on, "cuda"), "int8 is computed on processors only; use bf16, or device cpu")
	return ps
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
