package view

import (
	"io"
	"time"

	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/session/doctor"
)

// idShown is how much of an environment's ID is shown: enough to tell them apart.
const idShown = 8

// Environments lists those of this machine.
func Environments(w io.Writer, list []realize.Found) {
	if len(list) == 0 {
		Println(w, "no environments on this machine")
	}
	for _, f := range list {
		if !f.Complete {
			Printf(w, "%s  half made, or being made  %s\n", f.ID[:idShown], f.Dir)
			continue
		}
		python := ""
		if f.Python != "" {
			python = ", Python " + f.Python
		}
		Printf(w, "%s  %s  %s of %s%s  %s  used %s ago  %s\n", f.ID[:idShown], f.Name, Count(len(f.List), "package"), f.Lock, python, Size(f.Bytes), Seconds(time.Since(f.Used)), f.Dir)
	}
}

// RemovedEnvironments says what is gone.
func RemovedEnvironments(w io.Writer, list []realize.Found) {
	var bytes int64
	for _, f := range list {
		bytes += f.Bytes
	}
	Printf(w, "removed %s, %s\n", Count(len(list), "environment"), Size(bytes))
}

// Findings prints what doctor found.
func Findings(w io.Writer, st Style, found []doctor.Finding) {
	for _, f := range found {
		word := f.Level
		if word == doctor.Fail {
			word = "FAIL"
		}
		Printf(w, "%s %-16s %s\n", st.Outcome(levelColour[f.Level], word), f.What, f.Note)
		if f.Do != "" {
			Printf(w, "%-5s %-16s -> %s\n", "", "", f.Do)
		}
	}
}

// levelColour maps a level to the outcome whose colour it has.
var levelColour = map[string]string{doctor.OK: "hit", doctor.Warn: "maybe", doctor.Fail: "failed"}
