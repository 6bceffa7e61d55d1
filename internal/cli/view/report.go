package view

import (
	"io"
	"strings"

	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/system/words"
)

// Reported prints what a report in a file has, and what else was written.
func Reported(w io.Writer, r *report.Report, file string, written []string) {
	Printf(w, "%s  %s, %d of %d steps have results\n", file, Items(len(r.Judged.Items)), r.Summary.Hit, len(r.Nodes))
	if r.Rebuilt.Steps > 0 {
		Printf(w, "%d of %s %s\n", r.Rebuilt.Steps, Count(len(r.Nodes), "step"), r.Rebuilt.Words())
	}
	for _, path := range written {
		Println(w, path)
	}
	if bare := r.WithoutLaTeX(); len(written) > 0 && len(bare) > 0 {
		Printf(w, "LaTeX needs PDF or PNG of up to 16 MiB, which %s: %s. Let the step write one too: image = [svg, pdf]\n", words.Of(len(bare), "this figure has not", "these figures have not"), strings.Join(bare, ", "))
	}
	Expectations(w, r.Judged, false)
}
