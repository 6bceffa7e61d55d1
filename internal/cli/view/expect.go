package view

import (
	"io"

	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
)

// unmetShown bounds the unmet expectations that are printed unless all are asked for; the
// report has all.
const unmetShown = 20

// Expectations prints unmet expectations or, with all, every expectation, the count of all, and
// what keeps this from being a reproduction. Without expectations it prints that alone.
func Expectations(w io.Writer, j *expect.Judged, all bool) {
	s := j.Summary()
	defer func() {
		if s.Apart != "" {
			Println(w, s.Apart)
		}
	}()
	if !s.Any() {
		return
	}
	shown := 0
	for _, it := range j.Items {
		for _, c := range it.Checks {
			if unmet := c.Verdict == render.Differs || c.Verdict == render.IsNear; all || unmet && shown < unmetShown {
				Printf(w, "%s  %s  %s: %s%s\n", c.Pos, it.Address, c.Verdict, c.Said(), c.Severity.Lesser("  "))
				shown++
			} else if unmet {
				shown++
			}
		}
	}
	for _, c := range j.Claims {
		if unmet := c.Verdict == render.Broken || c.Verdict == render.IsNear; !all && (!unmet || shown >= unmetShown) {
			if unmet {
				shown++
			}
			continue
		}
		shown++
		Printf(w, "%s  claim %s  %s: “%s”%s\n", c.Pos, c.Name, c.Verdict, c.Text, c.Severity.Lesser("  "))
		if c.Why != "" {
			Printf(w, "    %s\n", c.Why)
		}
		checks := c.Unmet()
		if all {
			checks = c.Checks
		}
		for _, k := range checks {
			Printf(w, "    %s: %s\n", k.Verdict, k.Said())
		}
	}
	if !all && shown > unmetShown {
		Printf(w, "and %d more\n", shown-unmetShown)
	}
	Printf(w, "%s\n", s.Sentence())
}
