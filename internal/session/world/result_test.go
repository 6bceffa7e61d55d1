package world

import (
	"errors"
	"testing"

	"github.com/redsi/redsi/internal/pipeline/testfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/workflows"
)

// TestOutcomes: a run that fails is a failed test; what keeps a test from running is an error, as printed.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		failures      []testfile.Failure
		err           error
		outcome, text string
	}{
		{nil, nil, Pass, ""},
		{[]testfile.Failure{{}}, nil, Fail, ""},
		{nil, &workflows.RunError{}, Fail, (&workflows.RunError{}).Error()},
		{nil, errors.New("no such file"), Error, "no such file"},
		{nil, fault.Printed(fault.CodeInput), Error, "said before"},
	} {
		r := Try(&testfile.File{}, &testfile.Run{}, func() ([]testfile.Failure, error) { return c.failures, c.err }, func() string { return "said before" })
		testkit.That(t, r.Outcome == c.outcome && r.Error == c.text, c.failures, c.err, r)
	}
}
