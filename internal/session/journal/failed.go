package journal

import (
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/words"
)

// Failed is how a step failed for good before, under its present key.
type Failed struct{ runs.Remembered }

// errorShown is how much of an error a plan's line shows.
const errorShown = 160

// String is one line: when, unless Ended is zero, where, how often and why.
func (f Failed) String() string {
	when := humanize.Time(f.Ended)
	switch {
	case f.Ended.IsZero():
		when = "before"
	case when == "now":
		when = "just now"
	}
	text := "failed " + when
	if f.Host != "" {
		text += " on " + f.Host
	}
	if f.Times > 1 {
		text += fmt.Sprintf(", %d times", f.Times)
	}
	if now := revision.Of(); f.Revision != "" && f.Revision != now {
		text += fmt.Sprintf(" (with redsi %s, this is %s)", f.Revision, now)
	}
	line, _, more := strings.Cut(strings.TrimSpace(f.Error), "\n")
	switch line = words.Clip(line, errorShown); {
	case strings.HasSuffix(line, ":"):
		line += " " + f.Last()
	case more:
		line = strings.TrimSuffix(line, "…") + "…"
	}
	return text + ": " + line
}

// Last is the last line of the error, which is what a program said last.
func (f Failed) Last() string {
	line := strings.TrimSpace(f.Error)
	return words.Clip(line[strings.LastIndexByte(line, '\n')+1:], errorShown)
}

// Failures is what failed for good under the keys that must run.
func Failures(ctx context.Context, store artifacts.Store, v *plan.Preview) (map[artifacts.Digest]runs.Remembered, error) {
	keys := map[artifacts.Digest]bool{}
	for _, it := range v.Items {
		if it.Outcome == plan.Run {
			keys[it.Key] = true
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return runs.PermanentFailures(ctx, store, keys)
}

// stillFailed leaves out steps that had a result after they failed, forgotten since.
func (j *Journal) stillFailed(v *plan.Preview, failed map[artifacts.Digest]runs.Remembered) map[int]Failed {
	found := map[int]Failed{}
	for i, it := range v.Items {
		f, ok := failed[it.Key]
		if it.Outcome != plan.Run || !ok {
			continue
		}
		address := v.Plan.Steps[i].Address
		if j.Key[address] == it.Key && j.Run[address] >= f.RunID { // ids of runs begin with their time
			continue
		}
		found[i] = Failed{f}
	}
	return found
}
