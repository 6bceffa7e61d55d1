package journal

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/runs"
)

// TestFailedLine: a plan's line has the error's first line, and what a program said last where
// that only announces it.
func TestFailedLine(t *testing.T) {
	for text, want := range map[string]string{
		"no such file":                     "failed before: no such file",
		"line 7\nmore":                     "failed before: line 7…",
		"its end:\nTraceback\nKeyError: y": "failed before: its end: KeyError: y",
		strings.Repeat("ä", 200) + "\nx":   "failed before: " + strings.Repeat("ä", errorShown) + "…",
	} {
		if got := (Failed{runs.Remembered{Failure: runs.Failure{Error: text}, Times: 1}}).String(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
