package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/internal/system/words"
)

// Verified prints what a check of the store found; repaired: and mended.
func Verified(w io.Writer, r artifacts.Report, repaired bool, hint func(verb string, args ...string) string) {
	PrintEach(w, "%s\n", r.Problems)
	PrintEach(w, "%s\n", r.Strays[:min(len(r.Strays), straysShown)])
	if n := len(r.Strays); n > 0 && !repaired {
		Printf(w, "%s among blobs and records that the store did not write and never reads; `%s` moves them to aside/\n", Count(n, "stray"), hint("verify", "--repair"))
	} else if n > straysShown {
		Printf(w, "%s in all; --json lists all\n", Count(n, "stray"))
	}
	Elsewhere(w, r.Elsewhere)
	printIf(w, r.Released > 0, "the outputs of %s have left the store: keep = false\n", Count(r.Released, "result"))
	Printf(w, "%s, %s, %s read; %s\n", Count(r.Results, "result"), Count(r.Blobs, "blob"), Size(r.Bytes), Count(len(r.Problems), "problem"))
}

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
	verb := either(o.DryRun, "would delete", "deleted")
	printIf(w, len(g.Leases) > 0, "%s %s that nobody renewed for a day\n", verb, Count(len(g.Leases), "lease"))
	Printf(w, "%s %s and %s, %s (%s to rebuild); %s stay\n", verb,
		Count(len(g.Results), "result"), Count(len(g.Blobs), "blob"), Size(g.Bytes), Seconds(cost), Size(g.Kept))
	if o.Max > 0 && g.Kept > o.Max {
		Printf(w, "%s are more than --max %s, and all of runs that count, or kept by name, or new. `%s` says which runs have them; --keep-runs and --keep-within leave old ones out, `%s` ends a name\n",
			Size(g.Kept), Size(o.Max), hint("du", "--by", "run"), hint("keep", "--drop", "NAME"))
	}
}

func Usages(w io.Writer, groups []artifacts.Usage, store artifacts.Usage, everything bool) {
	most := bound(usagesShown, everything)
	printIf(w, len(groups) > 0, "%10s  %10s  %8s\n", "bytes", "only here", "results")
	for _, u := range words.First(groups, most, func(n int) { Printf(w, "and %d smaller ones; --all lists them\n", n) }) {
		Printf(w, "%10s  %10s  %8s  %s\n", Size(u.Bytes), Size(u.Only), humanize.Comma(int64(u.Results)), u.Name)
	}
	Printf(w, "%s in all, of which %s are no result's: plans, records of runs, and what `redsi gc` takes\n", Size(store.Bytes), Size(store.Only))
}

func Pins(w io.Writer, pins []artifacts.Pin, hint func(verb string, args ...string) string) {
	for _, p := range pins {
		results := ""
		if p.Results > 0 {
			results = ", " + Count(p.Results, "result")
		}
		Printf(w, "%s  %s%s, since %s\n", p.Name, p.Of, results, p.Since.Local().Format(time.DateTime))
	}
	printIf(w, len(pins) == 0, "no run and no result is kept by name; `%s` keeps the newest run\n", hint("keep", "last"))
}

func RebuiltStep(w io.Writer, r rebuild.Step, hint func(verb string, args ...string) string) {
	word := string(r.Verdict)
	switch r.Verdict {
	case "":
		Printf(w, "%s  FAILED: %s\n", r.Address, r.Error)
		return
	case alike.Differs:
		word = "DIFFERS"
	}
	if times := (alike.Comparison{Outputs: r.Outputs}).OfTheRun(); len(times) > 0 {
		word += " except for values specific to the run in " + strings.Join(times, ", ")
	}
	Printf(w, "%s  %s, %s\n", r.Address, word, words.Took(r.TookS))
	for _, f := range r.Outputs {
		if f.Verdict == alike.Same {
			continue
		}
		Printf(w, "       output %s: %s\n", f.Output, f.Verdict)
		printIf(w, f.Worst != nil, "         %s\n", f.Worst)
		printIf(w, f.Verdict == alike.Differs, "         compared by %s\n", f.Rule)
		printIf(w, len(f.By) > 0, "         both were evaluated by %s\n", words.And(f.By, 3))
	}
	for _, d := range r.Details {
		printDetail(w, d, hint)
	}
	printIf(w, r.More > 0, "       and %s more that differ\n", Count(r.More, "file"))
}

func printDetail(w io.Writer, d alike.Detail, hint func(verb string, args ...string) string) {
	name := cmp.Or(d.File, d.Output)
	Printf(w, "       %s\n", name)
	PrintEach(w, "         %s\n", d.Places)
	printIf(w, d.More > 0, "         and %d more\n", d.More)
	printIf(w, d.Allow != "", "         to allow that: compare = { %q = %s }\n", name, d.Allow)
	Printf(w, "         the existing one: %s\n", hint("artifacts get", d.Stands.String(), "stands"))
	Printf(w, "         the new one: %s\n", hint("artifacts get", d.Made.String(), "made"))
}

func RebuiltAll(w io.Writer, r *rebuild.All, budget time.Duration) {
	total := 0.0
	for _, l := range r.LeftOut {
		total += l.ExpectsS
	}
	if n := len(r.LeftOut); n > 0 {
		Printf(w, "left out, with a budget of %s: %s, which took %s\n", Seconds(budget), Count(n, "step"), words.Took(total))
		for _, l := range words.First(r.LeftOut, leftOutShown, func(n int) { Printf(w, "       and %d more: --json lists all\n", n) }) {
			Printf(w, "       %s  %s\n", l.Address, words.Took(l.ExpectsS))
		}
	}
	attested := "attested, not signed (no signing key)"
	if r.Signer != "" {
		name, _, _ := strings.Cut(r.Signer, ":")
		attested = "attested, signed by " + name
	}
	if r.Same+r.Within+r.Differs == 0 {
		attested = "nothing is attested"
	}
	Printf(w, "%s: %d same bytes, %d within tolerance, %d different; %s\n", Count(len(r.Steps), "step"), r.Same, r.Within, r.Differs, attested)
}

// Compared reports how other stores' results compare with what ran here: how many agree, and each result that differs.
func Compared(w io.Writer, all []rebuild.Compared, stores []artifacts.Other) {
	type count struct{ same, within int }
	counts := map[string]*count{}
	for _, o := range stores {
		counts[o.Name] = &count{}
	}
	for _, c := range all {
		switch c.Verdict {
		case alike.Same:
			counts[c.From].same++
		case alike.Within:
			counts[c.From].within++
		default:
			Printf(w, "%s  DIFFERS from the result in %s\n", c.Address, c.From)
			printIf(w, c.Worst != nil, "       %s\n", c.Worst)
		}
	}
	var names []string
	for _, o := range stores {
		if n := counts[o.Name]; n.same+n.within > 0 {
			names = append(names, fmt.Sprintf("%s of %s (%d the same bytes, %d within tolerance)", Count(n.same+n.within, "result"), o.Name, n.same, n.within))
		}
	}
	printIf(w, len(names) > 0, "results made here agree with %s\n", strings.Join(names, " and "))
}
