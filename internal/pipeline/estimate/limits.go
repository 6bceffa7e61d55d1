package estimate

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// UsualLimits are the limits of a run for which nobody has set others.
const UsualLimits = "4h,20GB"

// unknownSteps is how many steps without history, after downloads of unknown size, exceed any limit.
const unknownSteps = 20

// Limits are what a run may take before somebody is asked.
type Limits struct {
	Work     time.Duration
	Download int64
}

// ParseLimits reads a time, a size, or both, and takes the usual limit for the other; nil: "never" or "0".
func ParseLimits(text string) (*Limits, error) {
	text = strings.TrimSpace(text)
	if text == "never" || text == "0" {
		return nil, nil
	}
	var l Limits
	for part := range strings.SplitSeq(UsualLimits+","+text, ",") {
		part = strings.TrimSpace(part)
		if d, err := time.ParseDuration(part); err == nil && d > 0 {
			l.Work = d
		} else if n, err := humanize.ParseBytes(part); err == nil && n > 0 && n <= 1<<62 {
			l.Download = int64(n)
		} else {
			return nil, fmt.Errorf("%s: want a time such as 4h, a size such as 20GB, both with a comma between them, or never", text)
		}
	}
	return &l, nil
}

// Exceeded reports whether a run takes more, as far as that is known.
func (l *Limits) Exceeded(e *Estimate) bool {
	return e.P50 > l.Work.Seconds() || e.Download > l.Download || e.Unfetched > 0 && e.Obscure()
}

// Obscure reports whether many steps have no history.
func (e *Estimate) Obscure() bool { return e.Unknown > unknownSteps }
