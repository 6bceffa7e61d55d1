package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// journal is what earlier runs of a pipeline recorded, by step address.
type journal struct {
	key   map[string]artifacts.Digest // of the newest result
	run   map[string]string
	spent map[string][]spending // newest first, of steps with the same sources as in this plan

	saved map[int]checkpoint // of steps without a result, by their place in the plan
	ended map[string]string  // how steps without a result ended last

	failed map[int]view.Failed // what failed for good under its present key

	causes  map[int]string // what differs from a step's newest result, without the values
	moved   map[string]int // steps whose newest result has a key of another format, by that
	entries map[artifacts.Digest]artifacts.Entry
	bytes   map[artifacts.Digest]int64 // of results that were looked at
	memory  map[artifacts.Digest]int64 // the same; 0 if not known
}

// spending is how long an earlier result took.
type spending struct {
	key  artifacts.Digest
	took time.Duration
}

// runsRead bounds how many run records are read for a plan, newest first; once every step has
// been found, reading stops after stepsRead steps in all.
const (
	runsRead  = 20
	stepsRead = 100_000
)

// journalOf reads what the newest run records of a pipeline of this project say about the
// steps that are not hits.
func (a *app) journalOf(ctx context.Context, store artifacts.Store, v *plan.Preview) (*journal, error) {
	j := &journal{key: map[string]artifacts.Digest{}, run: map[string]string{}, spent: map[string][]spending{}, ended: map[string]string{},
		causes: map[int]string{}, moved: map[string]int{}, bytes: map[artifacts.Digest]int64{}, memory: map[artifacts.Digest]int64{}}
	missing := len(v.Items) - v.Summary().Hit // steps without an earlier result so far
	if missing == 0 {
		return j, nil
	}
	defer a.waiting("reading the records of earlier runs")()
	var err error
	if j.saved, err = a.resumable(ctx, store, v); err != nil {
		return nil, err
	}
	failed, err := failuresOf(ctx, store, v)
	if err != nil {
		return nil, err
	}
	project := a.project()
	read := 0
	for rec, err := range a.recordsBefore(ctx, store, "") {
		if err != nil {
			return nil, err
		}
		if !rec.Of(project, v.Plan.Pipeline) {
			continue
		}
		read += len(rec.Steps)
		if missing -= j.add(rec, v); missing <= 0 && read >= stepsRead {
			break
		}
	}
	j.failed = j.stillFailed(v, failed)
	return j, nil
}

// add takes what a run record, older than those before it, says about steps that are not
// hits, and counts the steps whose first earlier result this is.
func (j *journal) add(rec *workflows.RunRecord, v *plan.Preview) (found int) {
	in := make(map[string]*workflows.RunStep, len(rec.Steps))
	for i := range rec.Steps {
		in[rec.Steps[i].Address] = &rec.Steps[i]
	}
	fits := make([]bool, len(v.Items)) // every source of the step was in that run
	for i, s := range v.Plan.Steps {
		old := in[s.Address]
		fits[i] = len(s.Deps) > 0 || old != nil
		for _, d := range s.Deps {
			fits[i] = fits[i] && fits[d]
		}
		if v.Items[i].Outcome != plan.Hit && old != nil && j.key[s.Address].IsZero() && j.ended[s.Address] == "" {
			switch old.Outcome {
			case workflows.Failed:
				j.ended[s.Address] = "failed in run " + rec.RunID
			case workflows.Cancelled:
				j.ended[s.Address] = "was cancelled in run " + rec.RunID
			}
		}
		if v.Items[i].Outcome == plan.Hit || old == nil || old.Key.IsZero() || old.Outcome != workflows.Hit && old.Outcome != workflows.Ran {
			continue
		}
		if _, ok := j.key[s.Address]; !ok {
			j.key[s.Address], j.run[s.Address] = old.Key, rec.RunID
			found++
		}
		known := slices.ContainsFunc(j.spent[s.Address], func(x spending) bool { return x.key == old.Key })
		if fits[i] && !known {
			j.spent[s.Address] = append(j.spent[s.Address], spending{old.Key, seconds(old.TookS)})
		}
	}
	return found
}

// entry reads an earlier result.
func (j *journal) entry(ctx context.Context, store artifacts.Store, key artifacts.Digest) (artifacts.Entry, error) {
	if e, held := j.entries[key]; held {
		return e, nil
	}
	entries, err := j.inspect(ctx, store, []artifacts.Digest{key})
	return entries[key], err
}

func (j *journal) inspect(ctx context.Context, store artifacts.Store, keys []artifacts.Digest) (map[artifacts.Digest]artifacts.Entry, error) {
	entries, err := artifacts.Inspect(ctx, store, keys)
	for key, e := range entries {
		if e.Result != nil {
			j.bytes[key], j.memory[key] = e.Result.Bytes(), e.Result.Memory()
		}
	}
	return entries, err
}

// inspectMost bounds the earlier results held in memory at a time.
const inspectMost = 1024

// ahead reads the earlier results of step i and of the next steps that must run, unless that
// of i is held already.
func (j *journal) ahead(ctx context.Context, store artifacts.Store, v *plan.Preview, i int) (err error) {
	old, ok := j.key[v.Plan.Steps[i].Address]
	if _, held := j.entries[old]; held || !ok {
		return nil
	}
	var keys []artifacts.Digest
	for n := i; n < len(v.Items) && len(keys) < inspectMost; n++ {
		if key, ok := j.key[v.Plan.Steps[n].Address]; ok && v.Items[n].Outcome == plan.Run {
			keys = append(keys, key)
		}
	}
	j.entries = nil
	j.entries, err = j.inspect(ctx, store, keys)
	return err
}

// reasons says briefly why each RUN step must run: what differs from its newest result, or
// that there is none.
func (a *app) reasons(ctx context.Context, store artifacts.Store, v *plan.Preview, past *journal) (map[int]string, error) {
	why := map[int]string{}
	for i, it := range v.Items {
		if it.Outcome != plan.Run {
			continue
		}
		if f, ok := past.failed[i]; ok {
			why[i] = f.String()
			continue
		}
		if err := past.ahead(ctx, store, v, i); err != nil {
			return nil, err
		}
		changes, note, err := a.changes(ctx, store, v, i, past)
		if err != nil {
			return nil, err
		}
		if len(changes) == 0 {
			why[i] = note
			continue
		}
		var words, paths []string
		for n, c := range changes {
			if n == 3 {
				words = append(words, fmt.Sprintf("%d more", len(changes)-3))
				break
			}
			words, paths = append(words, c.String()), append(paths, c.Path)
		}
		if resumes, ok := past.saved[i]; ok {
			words = append(words, resumes.String())
		}
		why[i], past.causes[i] = strings.Join(words, "; "), strings.Join(paths, ", ")
	}
	return why, nil
}

// changes compares a step's preimage with that of its newest result.
func (a *app) changes(ctx context.Context, store artifacts.Store, v *plan.Preview, i int, past *journal) ([]step.Change, string, error) {
	address := v.Plan.Steps[i].Address
	old, ok := past.key[address]
	if resumes, saved := past.saved[i]; saved && !ok {
		return nil, resumes.String(), nil
	}
	if !ok {
		return nil, cmp.Or(past.ended[address], "has never run here"), nil
	}
	e, err := past.entry(ctx, store, old)
	if err != nil {
		return nil, "", err
	}
	var other *artifacts.FormatError
	if errors.As(e.Damage, &other) {
		past.moved[other.Format]++
	}
	if e.Result == nil {
		return nil, e.Miss(), nil
	}
	if old == v.Items[i].Key {
		return nil, e.Miss(), nil
	}
	changes, err := a.differ(ctx, store)(e.Result.Preimage, v.Items[i].Preimage)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", address, err)
	}
	return changes, "", nil
}
