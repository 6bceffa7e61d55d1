package view

import (
	"io"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/words"
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
	if o.Max > 0 && g.Kept > o.Max {
		Printf(w, "%s are more than --max %s, and all of runs that count, or kept by name, or new. `%s` says which runs have them; --keep-runs and --keep-within leave old ones out, `%s` ends a name\n",
			Size(g.Kept), Size(o.Max), hint("du", "--by", "run"), hint("keep", "--drop", "NAME"))
	}
}

// usagesShown is how many groups are printed.
const usagesShown = 30

// Usages prints what groups of results have of a store's bytes.
func Usages(w io.Writer, groups []artifacts.Usage, store artifacts.Usage, everything bool) {
	most := usagesShown
	if everything {
		most = len(groups)
	}
	if len(groups) > 0 {
		Printf(w, "%10s  %10s  %8s\n", "bytes", "only here", "results")
	}
	for _, u := range words.First(groups, most, func(n int) { Printf(w, "and %d smaller ones; --all lists them\n", n) }) {
		Printf(w, "%10s  %10s  %8s  %s\n", Size(u.Bytes), Size(u.Only), humanize.Comma(int64(u.Results)), u.Name)
	}
	Printf(w, "%s in all, of which %s are no result's: plans, records of runs, and what `redsi gc` takes\n", Size(store.Bytes), Size(store.Only))
}

// Pins prints what is kept by name.
func Pins(w io.Writer, pins []artifacts.Pin, hint func(verb string, args ...string) string) {
	for _, p := range pins {
		results := ""
		if p.Results > 0 {
			results = ", " + Count(p.Results, "result")
		}
		Printf(w, "%s  %s%s, since %s\n", p.Name, p.Of, results, p.Since.Local().Format(time.DateTime))
	}
	if len(pins) == 0 {
		Printf(w, "no run and no result is kept by name; `%s` keeps the newest run\n", hint("keep", "last"))
	}
}
