package render

import (
	"fmt"
	"regexp"
)

// label matches what \label and \ref do not read as LaTeX.
var label = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9:._/+-]*$`)

// CheckLabel reports a label of the paper that LaTeX would not take; "" is none.
func CheckLabel(s string) error {
	if s != "" && !label.MatchString(s) {
		return fmt.Errorf("%q is not a label: it may have only letters, digits and : . _ / + -, such as tab:dedup-counts", s)
	}
	return nil
}

// Labelled returns a label of the given type, such as tab, that LaTeX can refer to; "" for any other.
func Labelled(s, typ string) string {
	if CheckLabel(s) != nil || len(s) <= len(typ)+1 || s[:len(typ)+1] != typ+":" {
		return ""
	}
	return s
}
