package view

import (
	"io"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/why"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// inputsShown bounds the inputs of a step that are printed.
const inputsShown = 12

// Why prints why steps are hits or must run; hint is a command to copy.
func Why(w io.Writer, st Style, answers []why.Step, hint func(verb string, args ...string) string) {
	for _, x := range answers {
		Printf(w, "%s  %s\n", st.Outcome(string(x.Outcome), string(x.Outcome)), x.Address)
		if x.From != "" {
			text := "       its result is in " + x.From
			if x.Fetch != nil {
				text += ", " + Size(*x.Fetch) + " to fetch"
			}
			Println(w, text)
		}
		if len(x.Lacks) > 0 {
			Printf(w, "       it is without %s, which %s: a run tries again\n", words.And(x.Lacks, inputsShown), words.Of(len(x.Lacks), "has no result", "have no results"))
		}
		for _, p := range x.Passed {
			Printf(w, "       %s\n", p)
		}
		if x.Failed != nil {
			Printf(w, "       %s\n", x.Failed)
		}
		switch {
		case x.Made != nil:
			printMade(w, x.Made)
		case x.Outcome == plan.Maybe:
			for _, d := range x.Waits {
				Printf(w, "       its key is not known until %s has run: %s\n", d, hint("why", d))
			}
		case len(x.Changes) == 0:
			Printf(w, "       %s\n", x.Reason)
		default:
			Printf(w, "       changed since run %s:\n", x.Against)
		}
		printChanges(w, st, x.Changes)
		for _, l := range x.Counted {
			Printf(w, "       in its key: %s\n", l)
		}
		for _, l := range x.Unkeyed {
			Printf(w, "       not in its key: %s\n", l)
		}
		if x.Resumes != nil && x.Reason != x.Resumes.String() {
			Printf(w, "       %s\n", x.Resumes)
		}
	}
}

func printMade(w io.Writer, m *why.Made) {
	Printf(w, "       made by run %s, finished %s, took %s, by redsi %s\n", m.Run, m.Finished.Local().Format(time.DateTime), words.Took(m.TookS), m.Revision)
	if m.As != "" {
		Printf(w, "       as %s: names are not part of keys\n", m.As)
	}
	if m.Accepted != nil {
		printAccepted(w, m.Accepted)
		return
	}
	Printf(w, "       unchanged since: its kind, its configuration and the bytes of its inputs (key %s)\n", m.Key.Short())
	if m.Rebuilt != nil {
		Rebuilt(w, "       ", m.Rebuilt)
	}
	for _, in := range words.First(m.Inputs, inputsShown, func(n int) { Printf(w, "       and %s more\n", Count(n, "input")) }) {
		Printf(w, "       %s <- %s.%s  %s\n", in.Path, in.Step, in.Output, shortDigest(in.Digest))
	}
}

// Acceptances lists what was accepted, revoked or not.
func Acceptances(w io.Writer, all []artifacts.AcceptedNow) {
	for _, x := range all {
		state := "stands"
		if x.Ended != nil {
			state = "revoked by " + x.Ended.By + ", " + x.Ended.When.Local().Format(time.DateTime)
		}
		Printf(w, "%s  %s  %s, %s; %s\n", x.Key.Short(), x.Step, x.Sentence(), x.When.Local().Format(time.DateTime), state)
	}
	Printf(w, "%s.\n", Count(len(all), "acceptance"))
}

// printAccepted says why a result made under another key is used.
func printAccepted(w io.Writer, x *artifacts.Acceptance) {
	Printf(w, "       %s (%s)\n", x.Sentence(), x.When.Local().Format(time.DateTime))
	Printf(w, "       it was made under key %s; differences accepted as irrelevant:\n", x.Of.Short())
	for _, c := range x.Changes {
		Printf(w, "       %s\n", step.Change{Path: c.Path, Old: c.Old, New: c.New})
	}
}

func printChanges(w io.Writer, st Style, changes []why.Change) {
	for _, c := range changes {
		Printf(w, "       %s", c.Change)
		if c.Where != "" {
			Printf(w, "  %s", st.Dim(c.Where))
		}
		Println(w)
	}
}

// WhyRan prints why steps of an ended run ran, or did not.
func WhyRan(w io.Writer, st Style, answers []why.Past) {
	for _, x := range answers {
		Printf(w, "%s  %s  %s\n", st.Outcome(string(x.Outcome), string(x.Outcome)), x.Address, st.Dim("in run "+x.Run))
		if x.Reason != "" {
			Printf(w, "       %s\n", Lines(x.Reason))
		}
		if m := x.Made; m != nil {
			Printf(w, "       it had a result: made by run %s, finished %s, took %s\n", m.Run, m.Finished.Local().Format(time.DateTime), words.Took(m.TookS))
		}
		if len(x.Changes) > 0 {
			Printf(w, "       changed since run %s:\n", x.Against)
		}
		printChanges(w, st, x.Changes)
	}
}
