package runs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
)

const failureFormat = "redsi-failure/1"

// Failure is the record "failures/<run id>/<hex key>" of the last attempt at a step that a run began and that left no
// result. It is for people: a plan shows the permanent failures of keys that must run, and the run tries them all the
// same. It goes with its run.
type Failure struct {
	Format  string           `json:"format"`
	RunID   string           `json:"run_id"`
	Step    string           `json:"step"` // its address; of a part, with the part's name after it
	Key     artifacts.Digest `json:"key"`
	Outcome Status           `json:"outcome"` // Failed, or Cancelled, also if its worker was stopped
	Error   string           `json:"error"`
	Attempt int32            `json:"attempt"`
	Tries   int              `json:"tries,omitempty"` // of a step with retry: failures of its program in this run
	Host    string           `json:"host,omitempty"`  // and its batch job
	Ended   time.Time        `json:"ended"`
	TookS   float64          `json:"took_s"`
	Log     *artifacts.Log   `json:"log,omitempty"`

	// Cut is how many workers of the run ended before the step did, and NeedsS how many seconds it ran on one of them at
	// the most: it needs more.
	Cut    int     `json:"cut,omitempty"`
	NeedsS float64 `json:"needs_s,omitempty"`

	// Permanent says that no retry within its run could fix it, or that none did.
	Permanent bool   `json:"permanent,omitempty"`
	Revision  string `json:"revision,omitempty"` // of redsi

	// Part is, in a record under the key of a step that works in parts, the key of the part
	// that failed for good, whose own record has the log.
	Part artifacts.Digest `json:"part,omitzero"`
}

// Place returns the host of a worker with this environment, and its batch job.
func Place(env map[string]string) string {
	return strings.TrimSuffix(env["host"]+", "+env["job"], ", ")
}

func failureName(run string, key artifacts.Digest) string {
	return artifacts.FailedPrefix + run + "/" + key.Hex()
}

func WriteFailure(ctx context.Context, store artifacts.Store, f Failure) error {
	f.Format = failureFormat
	return artifacts.PutJSON(ctx, store.Records, failureName(f.RunID, f.Key), f)
}

// ReadFailure reads the failure of a step in a run; zero if there is none, or it is damaged.
func ReadFailure(ctx context.Context, store artifacts.Store, run string, key artifacts.Digest) (f Failure, err error) {
	b, err := store.Records.Get(ctx, failureName(run, key))
	if errors.Is(err, artifacts.ErrNotExist) {
		return f, nil
	}
	if err != nil || json.Unmarshal(b, &f) != nil || f.Format != failureFormat {
		return Failure{}, err
	}
	return f, nil
}

// Remembered is the permanent failures of a step under one key.
type Remembered struct {
	Failure     // the newest
	Times   int `json:"times"` // in how many runs it failed for good
}

// PermanentFailures reads the permanent failures of keys in all runs of the store. It lists all failures and reads the
// failures of the keys.
func PermanentFailures(ctx context.Context, store artifacts.Store, keys map[artifacts.Digest]bool) (map[artifacts.Digest]Remembered, error) {
	names, err := artifacts.RecordNames(ctx, store.Records, artifacts.FailedPrefix)
	if err != nil {
		return nil, err
	}
	keyOf := func(name string) artifacts.Digest {
		key, _ := artifacts.ParseHex(name[strings.LastIndexByte(name, '/')+1:])
		return key
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !keys[keyOf(name)] })
	found := map[artifacts.Digest]Remembered{}
	for doc, err := range artifacts.Documents(ctx, store.Records, names) {
		if err != nil {
			return nil, err
		}
		key := keyOf(doc.Name)
		var f Failure
		if json.Unmarshal(doc.Text, &f) != nil || f.Format != failureFormat || f.Key != key || !f.Permanent || f.Outcome != Failed {
			continue
		}
		have := found[key]
		have.Times++
		if have.Times == 1 || f.Ended.After(have.Ended) {
			have.Failure = f
		}
		found[key] = have
	}
	return found, nil
}

// Failures reads the failures of a run, or of all runs if it is "", the newest first, until each returns false. It passes
// over damaged records, and over the records that parts left under the keys of their steps, as they have their own.
func Failures(ctx context.Context, store artifacts.Store, run string, each func(Failure) bool) error {
	prefix := artifacts.FailedPrefix
	if run != "" {
		prefix += run + "/"
	}
	names, err := artifacts.RecordNames(ctx, store.Records, prefix)
	if err != nil {
		return err
	}
	slices.SortFunc(names, func(x, y string) int { return strings.Compare(y, x) }) // ids of runs begin with their time
	for doc, err := range artifacts.Documents(ctx, store.Records, names) {
		if err != nil {
			return err
		}
		var f Failure
		if json.Unmarshal(doc.Text, &f) == nil && f.Format == failureFormat && failureName(f.RunID, f.Key) == doc.Name && f.Part.IsZero() && f.Log.Validate() == nil && !each(f) {
			return nil
		}
	}
	return nil
}
