package cli

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/session"
)

// TestSaidLast: what is said as the showing of a run ends is shown, though nobody reads what is said any more.
func TestSaidLast(t *testing.T) {
	var errw strings.Builder
	a := newApp(&session.Session{}, nil, &errw)
	a.sayer.w = &errw
	_, _, over := a.show()
	a.Say("took back pilots")
	over()
	if a.Say("the end"); errw.String() != "took back pilots\nthe end\n" {
		t.Errorf("%q", errw.String())
	}
}
