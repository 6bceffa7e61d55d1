package view

import (
	"io"

	"github.com/redsi/redsi/internal/session/world"
	"github.com/redsi/redsi/internal/system/words"
)

// Test prints the outcome of a test.
func Test(w io.Writer, r world.Result) {
	word := map[string]string{world.Pass: "pass ", world.Fail: "FAIL ", world.Error: "ERROR"}[r.Outcome]
	Printf(w, "%s  %s:%d  %s  (%s, %s, %s)\n", word, r.File, r.Line, r.Name, r.Command, Count(r.Assertions, "assertion"),
		words.Took(r.TookS))
	if r.Error != "" {
		Printf(w, "       %s\n", Lines(r.Error))
	}
	for _, f := range r.Failures {
		Printf(w, "       %s:%d: %s\n", f.File, f.Line, Lines(f.Message))
		Printf(w, "         %s\n", Lines(f.Condition))
		for _, v := range f.Values {
			if v.Value == v.Expression {
				Printf(w, "         | %s\n", Lines(v.Value))
			} else {
				Printf(w, "         | %s is %s\n", Lines(v.Expression), Lines(v.Value))
			}
		}
	}
}

// Tests prints how many tests had which outcome.
func Tests(w io.Writer, count map[string]int) {
	all := 0
	for _, n := range count {
		all += n
	}
	Printf(w, "%s: %d passed, %d failed", Count(all, "test"), count[world.Pass], count[world.Fail])
	if count[world.Error] > 0 {
		Printf(w, ", %d could not run", count[world.Error])
	}
	Printf(w, ".\n")
}
