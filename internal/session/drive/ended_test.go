package drive

import (
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/workflows"
)

// TestEndsInShort: the lines of a step's error that its FAIL line has shown are not said again,
// but a test's are, since nobody has seen them.
func TestEndsInShort(t *testing.T) {
	dr := &Driver{Session: &session.Session{Hint: func(verb string, args ...string) string {
		return strings.Join(append([]string{"redsi", verb}, args...), " ")
	}}}
	failed := &workflows.RunError{Type: workflows.FailedRun, Text: "1 of 2 steps failed:\nstep.a: exit code 1\n    Traceback:\n      File x\nstep.b: the end of its standard error:\n    Traceback:\n      File x\n    KeyError: 'y'"}
	for whole, want := range map[bool]string{false: "1 of 2 steps failed:\nstep.a: exit code 1\nstep.b: the end of its standard error: KeyError: 'y'\n`redsi logs --failed --run r` shows all of it", true: failed.Text} {
		if got := dr.once(failed, "r", whole); got.Error() != want {
			t.Errorf("%v: %v", whole, got)
		}
	}
	if got := dr.Ended(temporal.NewCanceledError(), "r", "next", false); got.Error() != "run r was cancelled\nnext" {
		t.Error(got)
	}
}

// TestCancelledSays: the error of a cancelled run says how far its steps are.
func TestCancelledSays(t *testing.T) {
	at := journal.Checkpoint{Address: "step.train", At: 600, Of: 1000, Unit: "step"}
	e := &Cancelled{RunID: "r", Sum: "1 hit, 1 cancelled", Resumes: []journal.Checkpoint{at}, Next: "`redsi run` goes on"}
	if got, want := e.Error(), "run r was cancelled: 1 hit, 1 cancelled\nstep.train has a checkpoint at step 600 of 1,000\n`redsi run` goes on"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
