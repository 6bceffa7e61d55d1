package view

import (
	"io"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// straysShown is how many strays are printed.
const straysShown = 20

// Verified prints what a check of the store found; repaired: and mended.
func Verified(w io.Writer, r artifacts.Report, repaired bool, hint func(verb string, args ...string) string) {
	for _, p := range r.Problems {
		Println(w, p.String())
	}
	for _, s := range r.Strays[:min(len(r.Strays), straysShown)] {
		Println(w, s.String())
	}
	if n := len(r.Strays); n > 0 && !repaired {
		Printf(w, "%s among blobs and records that the store did not write and never reads; `%s` moves them to aside/\n", Count(n, "stray"), hint("verify", "--repair"))
	} else if n > straysShown {
		Printf(w, "%s in all; --json lists all\n", Count(n, "stray"))
	}
	Elsewhere(w, r.Elsewhere)
	if r.Released > 0 {
		Printf(w, "the outputs of %s have left the store: keep = false\n", Count(r.Released, "result"))
	}
	Printf(w, "%s, %s, %s read; %s\n", Count(r.Results, "result"), Count(r.Blobs, "blob"), Size(r.Bytes), Count(len(r.Problems), "problem"))
}

// Collected prints what garbage collection deleted, or would delete.
func Collected(w io.Writer, g artifacts.Garbage, o artifacts.GCOptions, hint func(verb string, args ...string) string) {
	for _, r := range g.Open {
		Printf(w, "the run or copy %s is at work, or was ended before it could say so. What is younger than %s stays; "+
			"if it is not at work, do the same again, or release it with `%s`\n", r.RunID, r.Since.Local().Format(time.DateTime), hint("gc", "--forget-run", r.RunID))
	}
	var cost time.Duration
	for _, r := range g.Results {
		cost += r.Took
		Printf(w, "%s  %s  %s to rebuild, %s\n", r.Key.Hex()[:12], r.Step, Seconds(r.Took), Size(r.Bytes))
	}
	verb := "deleted"
	if o.DryRun {
		verb = "would delete"
	}
	if n := len(g.Leases); n > 0 {
		Printf(w, "%s %s that nobody renewed for a day\n", verb, Count(n, "lease"))
	}
	Printf(w, "%s %s and %s, %s (%s to rebuild); %s stay\n", verb,
		Count(len(g.Results), "result"), Count(len(g.Blobs), "blob"), Size(g.Bytes), Seconds(cost), Size(g.Kept))
}
