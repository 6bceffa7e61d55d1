package main

import (
	"errors"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestChoose: a group is chosen by its beginning, what must be asked for only by name, and an unknown name is an error.
func TestChoose(t *testing.T) {
	lines := []line{{name: "a"}, {name: "cuda/train", asked: true}, {name: "cuda/beam", asked: true, needs: func(*env) error { return errors.New("no card") }}}
	for only, want := range map[string]int{"": 1, "cuda/...": 2, "cuda/beam": 1, "a,cuda/...": 3} {
		got, err := choose(lines, only)
		testkit.None(t, err, only)
		testkit.Is(t, len(got), want, only)
	}
	for _, only := range []string{"cuda", "cud", "b...", "a,cuda/..."[:2]} {
		if got, err := choose(lines, only); err == nil {
			t.Errorf("%q: %d lines", only, len(got))
		}
	}
}
