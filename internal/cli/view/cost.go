package view

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/estimate"
)

// Cost says what a large run is expected to take.
func Cost(e *estimate.Estimate) string {
	var s strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&s, "  %-10s "+format+"\n", append([]any{what}, args...)...)
	}
	fmt.Fprintf(&s, "This run is large: %s to do.\n", Count(e.Steps, "step"))
	if known := e.Steps - e.Unknown; known > 0 {
		line("work", "%s; %s if every step is slow", Seconds(e.WorkP50), Seconds(e.WorkP90))
	}
	if e.GPUP50 > 0 {
		line("on GPUs", "%s of it", Seconds(e.GPUP50))
	}
	if e.Unknown > 0 {
		line("unknown", "%s without history", Count(e.Unknown, "step"))
	}
	if d := e.Download; d.Sources > 0 {
		var parts []string
		if known := d.Sources - d.Unknown; known > 0 {
			parts = append(parts, Size(d.Bytes)+" from "+Count(known, "source"))
		}
		if d.Unknown > 0 {
			parts = append(parts, Count(d.Unknown, "source")+" of unknown size")
		}
		line("download", "%s", strings.Join(parts, ", "))
	}
	if e.Bytes > 0 {
		text := Size(e.Bytes)
		if e.BytesUnknown > 0 {
			text += ", not counting " + Count(e.BytesUnknown, "step") + " of unknown size"
		}
		line("results", "%s", text)
	}
	return s.String()
}
