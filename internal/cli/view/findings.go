package view

import (
	"io"

	"github.com/redsi/redsi/internal/session/doctor"
)

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
