package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Failed is how a step failed for good before, under its present key.
type Failed struct {
	Error    string    `json:"error"`
	Run      string    `json:"run"`
	Host     string    `json:"host,omitempty"`
	Ended    time.Time `json:"ended"`
	Attempt  int32     `json:"attempt"`
	Revision string    `json:"revision,omitempty"` // of redsi
	Times    int       `json:"times"`              // number of runs
	Other    string    `json:"-"`                  // the revision of this redsi, if different
}

// errorShown is how much of an error a plan's line shows.
const errorShown = 160

// String is one line: when, where, how often and why.
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
