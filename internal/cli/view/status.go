package view

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/session/steplog"
	"github.com/redsi/redsi/internal/system/words"
)

// Status prints open runs, and how runs have ended; one: all of a single run; ended: also that no run has ended.
func Status(w io.Writer, st Style, r drive.Report, ended, one bool, hint func(verb string, args ...string) string) {
	most := bound(stepsShown, one)
	switch {
	case one:
	case r.Elsewhere != "":
		Println(w, r.Elsewhere)
	case r.Server == "":
		Println(w, "no run in progress (no server is running)")
	case len(r.Running) == 0:
		Printf(w, "no run in progress at %s\n", r.Server)
	}
	toSee := func(run string) string { return ": " + hint("status", "--run", run) }
	for _, x := range r.Running {
		openRun(w, st, x, most, toSee)
	}
	for _, p := range r.Pilots {
		Printf(w, "pilots  %s\n", Lines(p.String()))
	}
	what := either(len(r.Ended) == 1 && !one, "last run:", "run")
	for _, x := range r.Ended {
		Printf(w, "%s %s of %s, %s\n", what, x.RunID, x.Pipeline, drive.Tally(x.Counts))
		failed := st.Outcome("failed", "FAILED")
		for _, s := range words.First(x.Failed, most, func(n int) { Printf(w, "%s  and %d more%s\n", failed, n, toSee(x.RunID)) }) {
			Printf(w, "%s  %s  %s\n", failed, s.Address, Lines(s.Error))
		}
	}
	if len(r.Ended) == 0 && !one && ended {
		Println(w, "this store has no record of a run")
	}
}

func openRun(w io.Writer, st Style, x drive.Run, most int, toSee func(run string) string) {
	name, is := cmp.Or(x.RunID, x.Workflow), cmp.Or(x.Error, drive.Tally(x.Counts))
	Printf(w, "%s  %s, for %s", st.Bold(name), Lines(is), Seconds(time.Since(x.Started)))
	printIf(w, x.LeftS > 0, ", at least %s left", words.Took(x.LeftS))
	printIf(w, x.Priority != 0 && x.Priority != drive.UsualPriority, ", priority %d", x.Priority)
	Printf(w, "\n       %s\n", x.URL)
	for _, status := range []runs.Status{runs.Running, runs.Failed} {
		word := st.Outcome(string(status), strings.ToUpper(string(status)))
		shown := 0
		for _, s := range x.Steps {
			if s.Status != status || shown == most {
				continue
			}
			shown++
			note := s.Error
			if s.Progress != nil {
				note = Progress(*s.Progress, 0)
			}
			if s.Worker != "" {
				note = strings.TrimSpace(note + "  on " + s.Worker)
			}
			Printf(w, "%s  %s  %s\n", word, s.Address, Lines(note))
		}
		if more := x.Counts[status] - shown; more > 0 {
			Printf(w, "%s  and %d more%s\n", word, more, toSee(x.RunID))
		}
	}
}

func Cancelled(w io.Writer, runs []drive.CancelledRun) {
	for _, x := range runs {
		says := "asked to cancel"
		switch {
		case x.End != drive.Open:
			says = x.End
		case x.WaitsFor != "":
			says += ", still open: " + x.WaitsFor
		}
		Printf(w, "run %s: %s\n", x.RunID, says)
	}
}

func StepLog(w io.Writer, st Style, l *steplog.Log) {
	Printf(w, "%s  %s", st.Bold(l.Address), l.Outcome)
	printIf(w, l.TookS > 0, " %s", words.Took(l.TookS))
	printIf(w, l.Host != "", " on %s", l.Host)
	printIf(w, l.Run != "", ", run %s", l.Run)
	printIf(w, !l.Ended.IsZero(), ", ended %s", l.Ended.Local().Format(time.DateTime))
	printIf(w, l.Exit != "", ", exit code %s", l.Exit)
	Println(w)
	printIf(w, l.Error != "", "       %s\n", Lines(l.Error))
	printIf(w, l.Empty(), "       its log is empty\n")
	printIf(w, l.Note != "", "       %s\n", l.Note)
	printIf(w, l.Cut > 0, "       its first %s and last %s; %s between them were not kept\n",
		Size(runs.LogHead), Size(runs.LogTail), Size(l.Cut))
}
