package view

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/session/compare"
	"github.com/redsi/redsi/internal/system/words"
)

// pairsShown is how many steps that differ are printed: with the rest, a screen.
const pairsShown = 16

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
	not := ""
	if len(differ) > 0 {
		not = "not "
	}
	Printf(w, "%s and %s are %sthe same study: of %s %d are the same, %d within what their kinds allow, %d not", a, b, not, Count(len(pairs), "step"), same, within, len(differ))
	if renewed > 0 && !results {
		Printf(w, ", %d of them by their keys alone, which --results passes over", renewed)
	}
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
