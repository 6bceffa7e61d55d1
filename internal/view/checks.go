package view

import (
	"io"

	"github.com/redsi/redsi/internal/report"
)

// unmetShown bounds the differences that Checks prints; the report has all.
const unmetShown = 20

// Checks prints what came of the comparison with the paper: counts, and what differs or
// does not hold.
func Checks(w io.Writer, r *report.Report) {
	if s := r.Tally.Sentence("numbers and texts"); s != "" && r.Tally.Comparable() {
		Printf(w, "against the paper: %s\n", s)
	}
	shown := 0
	for _, it := range r.Items {
		for _, c := range it.Unmet() {
			if shown++; shown <= unmetShown {
				Printf(w, "  %s  %s\n", it.Address, c.Said())
			}
		}
	}
	if shown > unmetShown {
		Printf(w, "  and %d more\n", shown-unmetShown)
	}
}
