package world

import (
	"errors"
	"time"

	"github.com/redsi/redsi/internal/pipeline/testfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

// Outcomes of tests.
const (
	Pass  = "pass"
	Fail  = "fail"
	Error = "error" // it could not run
)

// Result is the outcome of one run block.
type Result struct {
	File       string             `json:"file"`
	Line       int                `json:"line"`
	Name       string             `json:"name"`
	Command    string             `json:"command"`
	Outcome    string             `json:"outcome"`
	Assertions int                `json:"assertions"`
	TookS      float64            `json:"took_s"`
	Failures   []testfile.Failure `json:"failures,omitempty"`
	Error      string             `json:"error,omitempty"`
}

// Try runs a test. A failed run is a failed test; any other error is of a test that could not
// run, and said is what was printed of one that was not returned.
func Try(f *testfile.File, r *testfile.Run, try func() ([]testfile.Failure, error), said func() string) Result {
	began := time.Now()
	out := Result{File: f.Name, Line: r.Line, Name: r.Name, Command: r.Command, Outcome: Pass, Assertions: len(r.Asserts)}
	failures, err := try()
	var failed *workflows.RunError
	switch out.Failures = failures; {
	case errors.As(err, &failed):
		out.Outcome, out.Error = Fail, err.Error()
	case fault.Silent(err):
		out.Outcome, out.Error = Error, said()
	case err != nil:
		out.Outcome, out.Error = Error, err.Error()
	case len(failures) > 0:
		out.Outcome = Fail
	}
	out.TookS = time.Since(began).Seconds()
	return out
}

// Count counts results by their outcomes.
func Count(results []Result) map[string]int {
	n := map[string]int{}
	for _, r := range results {
		n[r.Outcome]++
	}
	return n
}
