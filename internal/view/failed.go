package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Failed is how a step failed for good before, under the key that it has now.
type Failed struct {
	Error    string    `json:"error"`
	Run      string    `json:"run"`
	Host     string    `json:"host,omitempty"`
	Ended    time.Time `json:"ended"`
	Attempt  int32     `json:"attempt"`
	Revision string    `json:"revision,omitempty"` // of redsi
	Times    int       `json:"times"`              // in so many runs
	Other    string    `json:"-"`                  // the revision of this redsi, if it is another one
}

// errorShown is how much of an error stands in a line of a plan.
const errorShown = 160

// String is all of it in a line: when, where, how often and why.
func (f Failed) String() string {
	when := humanize.Time(f.Ended)
	if when == "now" {
		when = "just now"
	}
	text := "failed " + when
	if f.Host != "" {
		text += " on " + f.Host
	}
	if f.Times > 1 {
		text += fmt.Sprintf(", %d times", f.Times)
	}
	if f.Other != "" {
		text += fmt.Sprintf(" (with redsi %s, this is %s)", f.Revision, f.Other)
	}
	line, _, more := strings.Cut(strings.TrimSpace(f.Error), "\n")
	if len(line) > errorShown {
		line, more = strings.ToValidUTF8(line[:errorShown], ""), true
	}
	if more {
		line += "…"
	}
	return text + ": " + line
}
