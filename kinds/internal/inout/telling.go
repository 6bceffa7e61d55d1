package inout

import (
	"strings"

	"github.com/redsi/redsi/step"
)

// Telling is for work that waits for a server: progress says how far the step is, and log what holds
// it up, in its log and beside its progress until there is more. A name is before that.
func Telling(x *step.IO, unit, name string) (progress func(done, total int64), log func(msg string, args ...any)) {
	at := step.Progress{Unit: unit, Note: name}
	progress = func(done, total int64) {
		at.Done, at.Total, at.Note = done, total, name
		x.Report(at)
	}
	log = func(msg string, args ...any) {
		x.Log.Warn(msg, args...)
		at.Note = strings.TrimPrefix(name+": "+msg, ": ")
		x.Report(at)
	}
	return progress, log
}
