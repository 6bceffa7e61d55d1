package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/values"
)

// Forms of run records. The steps of the second are in the blob that it names, a
// JSON object with the one member "steps".
const (
	format     = "redsi-run/1"
	longFormat = "redsi-run/2"
)

// longSteps is how large the steps of a run may be to stand in its record.
const longSteps = 256 << 10

// body is the blob of a long run's steps.
type body struct {
	Steps []Step `json:"steps"`
}

// IDs lists the runs recorded in a store, oldest first.
func IDs(ctx context.Context, store artifacts.Store) ([]string, error) {
	names, err := artifacts.RecordNames(ctx, store.Records, artifacts.RunsPrefix)
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, artifacts.RunsPrefix)
	}
	return names, err
}

// Write stores the record of a run, its steps in a blob if they are many, and
// closes it: garbage collection goes by the record from now on.
func Write(ctx context.Context, store artifacts.Store, rec Record) error {
	steps, err := json.Marshal(body{rec.Steps})
	if err != nil {
		return err
	}
	whole := rec.whole()
	rec.Format, rec.Body = format, nil
	if len(steps) > longSteps {
		d, err := artifacts.PutBytes(ctx, store.Blobs, steps)
		if err != nil {
			return err
		}
		rec.Format, rec.Steps, rec.Body = longFormat, nil, &d
	}
	if err := artifacts.PutJSON(ctx, store.Records, artifacts.RunsPrefix+rec.RunID, rec); err != nil {
		return err
	}
	if err := Close(ctx, store, rec.RunID); err != nil || !whole {
		return err
	}
	return closeKilled(ctx, store, rec.Plan)
}

// whole reports whether each step of the run has a result, which the record names.
func (r *Record) whole() bool {
	return len(r.Steps) > 0 && !slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Key.IsZero() || !s.Finished() })
}

// DamagedError says that a run's record, or the blob of its steps, cannot be read
// whoever asks.
type DamagedError struct {
	RunID string
	Err   error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the record of run %s is damaged: %v", e.RunID, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// ReadHead reads the record of a run; the steps of a long one stay in the blob that
// its Body names.
func ReadHead(ctx context.Context, store artifacts.Store, id string) (*Record, error) {
	b, err := store.Records.Get(ctx, artifacts.RunsPrefix+id)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	var rec Record
	if err := values.Written(b, &rec); err != nil {
		return nil, &DamagedError{id, err}
	}
	return &rec, nil
}

// Read reads the record of a run with its steps.
func Read(ctx context.Context, store artifacts.Store, id string) (*Record, error) {
	rec, err := ReadHead(ctx, store, id)
	if err != nil {
		return nil, err
	}
	return rec, readSteps(ctx, store, rec)
}

// Backward reads the records of some runs before one ("": of all), newest first, among so many of
// the store at most (0: all). Reading may go on after a *DamagedError.
func Backward(ctx context.Context, store artifacts.Store, before string, of func(*Record) bool, looks int) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		ids, err := IDs(ctx, store)
		if err != nil {
			yield(nil, err)
			return
		}
		if before != "" {
			ids = ids[:sort.SearchStrings(ids, before)]
		}
		if looks > 0 {
			ids = ids[max(0, len(ids)-looks):]
		}
		for _, id := range slices.Backward(ids) {
			rec, err := ReadHead(ctx, store, id)
			if err == nil && !of(rec) {
				continue
			}
			if err == nil {
				err = readSteps(ctx, store, rec)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// readSteps reads the steps of a long run into its record.
func readSteps(ctx context.Context, store artifacts.Store, rec *Record) error {
	if rec.Body == nil {
		return nil
	}
	var steps body
	b, err := artifacts.ReadBlob(ctx, store.Blobs, *rec.Body, artifacts.AnySize)
	if err == nil {
		err = values.Written(b, &steps)
	}
	if err != nil {
		err = fmt.Errorf("its steps: %w", err)
		if artifacts.IsLost(err) {
			return &DamagedError{rec.RunID, err}
		}
		return fmt.Errorf("run %s: %w", rec.RunID, err)
	}
	rec.Steps = steps.Steps
	return nil
}
