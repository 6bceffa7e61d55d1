package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/compare"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/session/saved"
	"github.com/redsi/redsi/internal/sharing/files"
	"github.com/redsi/redsi/internal/system/words"
)

func RunsDiffer(w io.Writer, st Style, x, y string, ds []compare.Step, same int, all bool) {
	Printf(w, "%s -> %s\n", x, y)
	for _, d := range ds {
		Printf(w, "%s  %s -> %s", st.Bold(d.Address), cmp.Or(d.A, "none"), cmp.Or(d.B, "none"))
		printIf(w, d.Was != "", "  was %s", d.Was)
		printIf(w, d.Note != "", "  %s", st.Dim(d.Note))
		Println(w)
		PrintEach(w, "       %s\n", d.Changes)
		for _, o := range d.Outputs {
			if all || !o.Rendering {
				printOutput(w, st, o, all)
			}
		}
		for _, c := range d.Checks {
			Printf(w, "       expected: %s -> %s  %s\n", cmp.Or(c.A, "none"), c.B, c.Said)
		}
	}
	Printf(w, "%s %s, %d the same work.\n", Count(len(ds), "step"), words.Of(len(ds), "differs", "differ"), same)
}

func shortDigest(d artifacts.Digest) string {
	if d.IsZero() {
		return "none"
	}
	return d.Short()
}

// printOutput prints how one output differs; all: without bounds.
func printOutput(w io.Writer, st Style, o compare.Output, all bool) {
	Printf(w, "       output %s: %s -> %s", o.Output, shortDigest(o.A), shortDigest(o.B))
	both := !o.A.IsZero() && !o.B.IsZero()
	printIf(w, both && len(o.Values) == 0 && o.Lines == "", "  %s -> %s", Size(o.SizeA), Size(o.SizeB))
	Println(w)
	more := func(what string) func(n int) {
		return func(n int) {
			Printf(w, "         %s\n", st.Dim(fmt.Sprintf("and %s more: --verbose shows all", Count(n, what))))
		}
	}
	for _, v := range words.First(o.Values, bound(valuesShown, all), more("value")) {
		Printf(w, "         %s: %s → %s\n", cmp.Or(v.Name, v.At), clip(cmp.Or(v.A, "none")), clip(v.After()))
	}
	for _, l := range words.First(slices.Collect(strings.Lines(o.Lines)), bound(linesShown, all), more("line")) {
		l = strings.TrimSuffix(l, "\n")
		if !all {
			l = clip(l)
		}
		Printf(w, "         %s\n", l)
	}
}

func clip(s string) string { return words.Fit(s, 160) }

// Same prints whether two runs are the same study, and what differs: what is lost or has other results first.
func Same(w io.Writer, st Style, a, b string, pairs []compare.Pair, results bool) {
	var differ []compare.Pair
	same, within, renewed := 0, 0, 0
	for _, p := range pairs {
		switch {
		case !p.Ok(results):
			differ = append(differ, p)
		case p.Verdict == alike.Within:
			within++
		default:
			same++
		}
		if p.Ok(true) && !p.SameKey {
			renewed++
		}
	}
	slices.SortStableFunc(differ, func(x, y compare.Pair) int { return rank(x) - rank(y) })
	for _, p := range words.First(differ, pairsShown, func(n int) { Printf(w, "and %s more; --json lists all\n", Count(n, "step")) }) {
		Printf(w, "%s  %s\n", st.Bold(p.Address), pairText(p))
	}
	not := either(len(differ) > 0, "not ", "")
	Printf(w, "%s and %s are %sthe same study: of %s %d are the same, %d within what their kinds allow, %d not", a, b, not, Count(len(pairs), "step"), same, within, len(differ))
	printIf(w, renewed > 0 && !results, ", %d of them by their keys alone, which --results passes over", renewed)
	Println(w, ".")
}

// rank orders what differs: lacking results, other ones, other keys.
func rank(p compare.Pair) int {
	switch p.Verdict {
	case "":
		return 0
	case alike.Differs:
		return 1
	}
	return 2
}

func pairText(p compare.Pair) string {
	var said []string
	if p.Verdict == alike.Differs {
		said = append(said, "other results")
	} else if p.Verdict != "" {
		said = append(said, "another key, "+string(p.Verdict))
	}
	if p.What != "" {
		said = append(said, p.What)
	}
	return clip(strings.Join(said, ": "))
}

// AnnotatePairs writes what differs as workflow commands of GitHub Actions, each at the step's line.
func AnnotatePairs(w io.Writer, pairs []compare.Pair, results bool) {
	escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, p := range pairs {
		if p.Ok(results) {
			continue
		}
		at := ""
		if p.At.Line > 0 {
			at = " file=" + property.Replace(p.At.File) + ",line=" + strconv.Itoa(p.At.Line)
		}
		Printf(w, "::error%s::%s\n", at, escape.Replace(p.Address+": "+pairText(p)))
	}
}

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

// FailedBefore lists, before a run, what failed for good the last time; left: it is left out.
func FailedBefore(w io.Writer, pl *plan.Plan, failed map[int]journal.Failed, left bool) {
	what := either(left, "left out", "retried")
	Printf(w, "%s failed before and %s %s:\n", Count(len(failed), "step"), words.Of(len(failed), "is", "are"), what)
	for _, i := range words.First(slices.Sorted(maps.Keys(failed)), failedShown, func(n int) { Printf(w, "  and %d more\n", n) }) {
		Printf(w, "  %s %s\n", pl.Steps[i].Address, failed[i])
	}
	printIf(w, !left, "--skip-failed leaves them out.\n")
}

func Drifts(w io.Writer, drifts []saved.Drift) {
	for _, d := range drifts {
		Printf(w, "%s is %s since the plan was saved\n", d.Address, d.What)
		PrintEach(w, "       %s\n", d.Changes)
	}
}
