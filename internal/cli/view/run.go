package view

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/session/saved"
	"github.com/redsi/redsi/internal/sharing/files"
	"github.com/redsi/redsi/internal/system/words"
)

// keptShown bounds the files that are named as somebody's own.
const keptShown = 5

// Published prints a line for each publish block.
func Published(w io.Writer, list []files.Published) {
	for _, p := range list {
		if len(p.Waits) > 0 {
			Printf(w, "publish %s  nothing is written: %s %s no result\n", p.Name, words.And(p.Waits, keptShown), words.Of(len(p.Waits), "has", "have"))
			continue
		}
		Printf(w, "publish %s  %s: %s", p.Name, p.To, strings.Join(append([]string{Count(p.Files, "file")}, words.Counts(words.Number{N: p.Written, Of: "written"}, words.Number{N: p.Removed, Of: "removed"})...), ", "))
		if n := len(p.Kept); n > 0 {
			Printf(w, "; %d %s, changed by somebody else than redsi: %s. Move or remove %s to have redsi's", n, words.Of(n, "is left as it is", "are left as they are"), words.And(p.Kept, keptShown), words.Of(n, "it", "them"))
		}
		Printf(w, "\n")
	}
}

// failedShown is how many steps that failed before are listed before a run.
const failedShown = 5

// FailedBefore lists, before a run, what failed for good the last time; left: it is left out.
func FailedBefore(w io.Writer, pl *plan.Plan, failed map[int]journal.Failed, left bool) {
	what := "tried again"
	if left {
		what = "left out"
	}
	Printf(w, "%s failed before and %s %s:\n", Count(len(failed), "step"), words.Of(len(failed), "is", "are"), what)
	for _, i := range words.First(slices.Sorted(maps.Keys(failed)), failedShown, func(n int) { Printf(w, "  and %d more\n", n) }) {
		Printf(w, "  %s %s\n", pl.Steps[i].Address, failed[i])
	}
	if !left {
		Printf(w, "--skip-failed leaves them out.\n")
	}
}

// Drifts prints how a plan differs from a saved one.
func Drifts(w io.Writer, drifts []saved.Drift) {
	for _, d := range drifts {
		Printf(w, "%s is %s since the plan was saved\n", d.Address, d.What)
		for _, c := range d.Changes {
			Printf(w, "       %s\n", c)
		}
	}
}
