package view

import (
	"io"
	"time"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/steplog"
	"github.com/redsi/redsi/internal/system/words"
)

// StepLog prints whose log follows, how the step ended, and what is left of the log.
func StepLog(w io.Writer, st Style, l *steplog.Log) {
	Printf(w, "%s  %s", st.Bold(l.Address), l.Outcome)
	if l.TookS > 0 {
		Printf(w, " %s", words.Took(l.TookS))
	}
	if l.Host != "" {
		Printf(w, " on %s", l.Host)
	}
	if l.Run != "" {
		Printf(w, ", run %s", l.Run)
	}
	if !l.Ended.IsZero() {
		Printf(w, ", ended %s", l.Ended.Local().Format(time.DateTime))
	}
	if l.Exit != "" {
		Printf(w, ", exit code %s", l.Exit)
	}
	Println(w)
	if l.Error != "" {
		Printf(w, "       %s\n", Lines(l.Error))
	}
	if l.Empty() {
		Printf(w, "       its log is empty\n")
	}
	if l.Note != "" {
		Printf(w, "       %s\n", l.Note)
	}
	if l.Cut > 0 {
		Printf(w, "       its first %s and last %s; %s between them were not kept\n",
			Size(runs.LogHead), Size(runs.LogTail), Size(l.Cut))
	}
}
