package journal

import (
	"cmp"
	"context"
	"encoding/json"
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

// ahead reads the earlier results of step i and of the next steps that must run, unless that
// of i is held already.
func (j *Journal) ahead(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, i int) (err error) {
	old, ok := j.Key[v.Plan.Steps[i].Address]
	if _, held := j.entries[old]; held || !ok {
		return nil
	}
	var keys []artifacts.Digest
	for n := i; n < len(v.Items) && len(keys) < InspectMost; n++ {
		if key, ok := j.Key[v.Plan.Steps[n].Address]; ok && v.Items[n].Outcome == plan.Run {
			keys = append(keys, key)
		}
	}
	j.entries = nil
	j.entries, err = j.inspect(ctx, store, keys)
	return err
}

// Reasons says briefly why each RUN step must run: what differs from its newest result, or
// that there is none.
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
		if err := j.ahead(ctx, store, v, i); err != nil {
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

// Changes compares a step's preimage with that of its newest result.
func (j *Journal) Changes(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, i int, differ Differ) ([]step.Change, string, error) {
	address := v.Plan.Steps[i].Address
	old, ok := j.Key[address]
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
	e, err := j.entry(ctx, store, old)
	if err != nil {
		return nil, "", err
	}
	if other, ok := errors.AsType[*artifacts.FormatError](e.Damage); ok {
		j.Moved[other.Format]++
	}
	if e.Result == nil || old == v.Items[i].Key {
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

// Checkpoint is how far a step without a result is.
type Checkpoint struct {
	Address string `json:"address"`
	At      int64  `json:"at"`
	Of      int64  `json:"of,omitempty"`     // 0: not known
	Unit    string `json:"unit,omitempty"`   // of both
	Onward  bool   `json:"onward,omitempty"` // kept by another, shorter step
}

// String is a reason such as: has a checkpoint at step 600 of 1,000.
func (c Checkpoint) String() string {
	text := "has a checkpoint"
	if c.Onward {
		text = "continues from a shorter step's checkpoint"
	}
	if c.Unit != "" {
		text += fmt.Sprintf(" at %s %s", c.Unit, humanize.Comma(c.At))
	}
	if c.Of > 0 {
		text += " of " + humanize.Comma(c.Of)
	}
	return text
}

// Checkpoints finds those of steps of a plan, by their keys.
func Checkpoints(ctx context.Context, kinds *step.Registry, store artifacts.Store, pl *plan.Plan, keys map[int]artifacts.Digest) (map[int]Checkpoint, error) {
	found := map[int]Checkpoint{}
	if len(keys) == 0 {
		return found, nil
	}
	newest, err := artifacts.NewestCheckpoints(ctx, store.Records)
	if err != nil {
		return found, fmt.Errorf("checkpoints: %w", err)
	}
	for i, key := range keys {
		at, ok := newest[key]
		if !ok {
			continue
		}
		s := pl.Steps[i]
		c := Checkpoint{Address: s.Address, At: at}
		if spec := kinds.Lookup(s.Task.Kind); spec != nil {
			c.Unit, c.Of = spec.Counts, number(s.Task.Config, spec.CountsTo)
		}
		found[i] = c
	}
	return found, nil
}

// Resumable are the checkpoints that the steps of a preview without a result continue from,
// their own or another step's.
func Resumable(ctx context.Context, kinds *step.Registry, store artifacts.Store, v *plan.Preview) (map[int]Checkpoint, error) {
	keys := map[int]artifacts.Digest{}
	for i, it := range v.Items {
		if it.Outcome == plan.Run {
			keys[i] = it.Key
		}
	}
	found, err := Checkpoints(ctx, kinds, store, v.Plan, keys)
	if err != nil {
		return found, err
	}
	for i := range keys {
		if _, own := found[i]; own {
			continue
		}
		c, err := keptFor(ctx, kinds, store, v.Plan.Steps[i].Address, v.Items[i].Task())
		if err != nil {
			return found, fmt.Errorf("checkpoints: %w", err)
		}
		if c != nil {
			found[i] = *c
		}
	}
	return found, nil
}

// keptFor is the state of another step that a task continues from; nil: none.
func keptFor(ctx context.Context, kinds *step.Registry, store artifacts.Store, address string, task step.Task) (*Checkpoint, error) {
	key, ok, err := kinds.Trajectory(task)
	if err != nil || !ok {
		return nil, err
	}
	spec := kinds.Lookup(task.Kind)
	c := Checkpoint{Address: address, Unit: spec.Counts, Of: number(task.Config, spec.CountsTo), Onward: true}
	c.At, err = artifacts.FurthestCheckpoint(ctx, store.Records, key, c.Of)
	if err != nil || c.At == 0 {
		return nil, err
	}
	return &c, nil
}

// number is an attribute of a configuration; 0 if that has no such number.
func number(config []byte, attribute string) (n int64) {
	var attrs map[string]json.RawMessage
	if json.Unmarshal(config, &attrs) != nil || json.Unmarshal(attrs[attribute], &n) != nil {
		return 0
	}
	return n
}
