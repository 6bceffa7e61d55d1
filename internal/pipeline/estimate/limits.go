package estimate

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/words"
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

// A request of memory is far off if steps took more, or less than a fourth of a request that counts.
const (
	farBelow = 4
	counts   = 100 << 20
)

// FarOff says, by place, which requests of memory are far from what such steps, or their blocks, took.
func (e *Estimate) FarOff(v *plan.Preview) map[int]string {
	found := map[int]string{}
	for i, s := range v.Plan.Steps {
		if s.Resources == nil || s.Resources.Memory == 0 {
			continue
		}
		asked, peak := s.Resources.Memory, v.Items[i].Memory
		if b := e.At(i).MemoryBasis; v.Items[i].Outcome != plan.Hit && (b == Itself || b == Block) {
			peak = e.Each[i].Memory
		}
		if peak > asked || peak > 0 && asked >= counts && peak < asked/farBelow {
			found[i] = fmt.Sprintf("asks for %s and took %s at most (%s)", words.Size(asked), words.Size(peak), s.Resources.At)
		}
	}
	return found
}
