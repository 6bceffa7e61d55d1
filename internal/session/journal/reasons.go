package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// Differ compares two preimages, for people.
type Differ func(before, after []byte) ([]step.Change, error)

// InspectMost bounds the earlier results held in memory at a time.
const InspectMost = 1024

// Newest is the newest earlier result of step i; zero if it has none. It reads those of the next wanted steps with it, InspectMost in
// all, and holds them in place of what it held.
func (j *Journal) Newest(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, i int, wanted func(n int) bool) (artifacts.Entry, error) {
	key := j.Last[v.Plan.Steps[i].Address].Key
	if e, held := j.entries[key]; held || key.IsZero() {
		return e, nil
	}
	keys := []artifacts.Digest{key}
	for n := i + 1; n < len(v.Items) && len(keys) < InspectMost; n++ {
		if next, ok := j.Last[v.Plan.Steps[n].Address]; ok && wanted(n) {
			keys = append(keys, next.Key)
		}
	}
	var err error
	j.entries = nil // of the steps before
	j.entries, err = j.inspect(ctx, store, keys)
	return j.entries[key], err
}

// Reasons says briefly why each RUN step must run: what differs from its newest result, or that there is none.
func (j *Journal) Reasons(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, differ Differ) (map[int]string, error) {
	why := map[int]string{}
	for i, it := range v.Items {
		if it.Outcome != plan.Run {
			continue
		}
		if f, ok := j.Failed[i]; ok {
			why[i] = f.String()
			continue
		}
		mustRun := func(n int) bool { return v.Items[n].Outcome == plan.Run }
		if _, err := j.Newest(ctx, store, v, i, mustRun); err != nil {
			return nil, err
		}
		changes, note, err := j.Changes(ctx, store, v, i, differ)
		if err != nil {
			return nil, err
		}
		if len(changes) == 0 {
			why[i] = note
			continue
		}
		var said, paths []string
		for _, c := range words.First(changes, 3, func(n int) { said = append(said, fmt.Sprintf("%d more", n)) }) {
			said, paths = append(said, c.String()), append(paths, c.Path)
		}
		if resumes, ok := j.Saved[i]; ok {
			said = append(said, resumes.String())
		}
		why[i], j.Causes[i] = strings.Join(said, "; "), strings.Join(paths, ", ")
	}
	return why, nil
}

// Changes compares a step's preimage with its newest result's, or says why there is nothing to compare.
func (j *Journal) Changes(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, i int, differ Differ) ([]step.Change, string, error) {
	address := v.Plan.Steps[i].Address
	last, ok := j.Last[address]
	if resumes, saved := j.Saved[i]; saved && !ok {
		return nil, resumes.String(), nil
	}
	if it := v.Items[i]; it.Released {
		return nil, fmt.Sprintf("its bytes have left the store (keep = false), and %s reads them", v.Plan.Steps[it.Snags().Reader].Address), nil
	}
	if it := v.Items[i]; !it.Snags().Stale.IsZero() {
		return nil, fmt.Sprintf("its result is of %s, and fresh for %s", it.Snags().Stale.Local().Format(time.DateTime), v.Plan.Steps[i].Fresh), nil
	}
	if !ok {
		return nil, cmp.Or(j.ended[address], "has never run here"), nil
	}
	e, err := j.Newest(ctx, store, v, i, func(int) bool { return false })
	if err != nil {
		return nil, "", err
	}
	if other, ok := errors.AsType[*artifacts.FormatError](e.Damage); ok {
		j.Moved[other.Format]++
	}
	if e.Result == nil || last.Key == v.Items[i].Key {
		return nil, e.Miss(), nil
	}
	changes, err := differ(e.Result.Preimage, v.Items[i].Preimage)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", address, err)
	}
	return changes, "", nil
}

// Failed is how a step failed for good before, under its present key.
type Failed struct{ runs.Remembered }

const errorShown = 160 // characters in a line of a plan

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

// Failures reads what failed for good under the keys of the steps that must run.
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
		if last := j.Last[v.Plan.Steps[i].Address]; last.Key == it.Key && last.Run >= f.RunID { // ids of runs begin with their time
			continue
		}
		found[i] = Failed{f}
	}
	return found
}
