package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/workflows"
)

// Forms of run records. The steps of the second are in the blob that it names, a
// JSON object with the one member "steps".
const (
	runFormat     = "redsi-run/1"
	longRunFormat = "redsi-run/2"
)

// longRun is how large the steps of a run may be to stand in its record.
const longRun = 256 << 10

// runBody is the blob of a long run's steps.
type runBody struct {
	Steps []workflows.RunStep `json:"steps"`
}

// RunIDs lists the runs recorded in a store, oldest first.
func RunIDs(ctx context.Context, store artifacts.Store) ([]string, error) {
	names, err := artifacts.RecordNames(ctx, store.Records, artifacts.RunsPrefix)
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, artifacts.RunsPrefix)
	}
	return names, err
}

// WriteRun stores the record of a run, its steps in a blob if they are many, and
// closes it: garbage collection goes by the record from now on.
func WriteRun(ctx context.Context, store artifacts.Store, rec workflows.RunRecord) error {
	steps, err := json.Marshal(runBody{rec.Steps})
	if err != nil {
		return err
	}
	whole := wholeRun(&rec)
	rec.Format, rec.Body = runFormat, nil
	if len(steps) > longRun {
		d, err := artifacts.PutBytes(ctx, store.Blobs, steps)
		if err != nil {
			return err
		}
		rec.Format, rec.Steps, rec.Body = longRunFormat, nil, &d
	}
	if err := artifacts.PutJSON(ctx, store.Records, artifacts.RunsPrefix+rec.RunID, rec); err != nil {
		return err
	}
	return closeRuns(ctx, store, rec, whole)
}

// wholeRun reports whether each step of a run has a result, which its record names.
func wholeRun(rec *workflows.RunRecord) bool {
	return len(rec.Steps) > 0 && !slices.ContainsFunc(rec.Steps, func(s workflows.RunStep) bool {
		return s.Key.IsZero() || s.Outcome != workflows.Hit && s.Outcome != workflows.Ran
	})
}

// DamagedRunError says that a run's record, or the blob of its steps, cannot be read
// whoever asks.
type DamagedRunError struct {
	RunID string
	Err   error
}

func (e *DamagedRunError) Error() string {
	return fmt.Sprintf("the record of run %s is damaged: %v", e.RunID, e.Err)
}

func (e *DamagedRunError) Unwrap() error { return e.Err }

// ReadRunHead reads the record of a run; the steps of a long one stay in the blob that
// its Body names.
func ReadRunHead(ctx context.Context, store artifacts.Store, id string) (*workflows.RunRecord, error) {
	b, err := store.Records.Get(ctx, artifacts.RunsPrefix+id)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	var rec workflows.RunRecord
	if err := values.Written(b, &rec); err != nil {
		return nil, &DamagedRunError{id, err}
	}
	return &rec, nil
}

// ReadRun reads the record of a run with its steps.
func ReadRun(ctx context.Context, store artifacts.Store, id string) (*workflows.RunRecord, error) {
	rec, err := ReadRunHead(ctx, store, id)
	if err != nil {
		return nil, err
	}
	return rec, readSteps(ctx, store, rec)
}

// Runs reads the records of some runs before one ("": of all), newest first, among so many of
// the store at most (0: all). Reading may go on after a *DamagedRunError.
func Runs(ctx context.Context, store artifacts.Store, before string, of func(*workflows.RunRecord) bool, looks int) iter.Seq2[*workflows.RunRecord, error] {
	return func(yield func(*workflows.RunRecord, error) bool) {
		ids, err := RunIDs(ctx, store)
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
			rec, err := ReadRunHead(ctx, store, id)
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
func readSteps(ctx context.Context, store artifacts.Store, rec *workflows.RunRecord) error {
	if rec.Body == nil {
		return nil
	}
	var body runBody
	if err := readJSON(ctx, store.Blobs, *rec.Body, &body); err != nil {
		err = fmt.Errorf("its steps: %w", err)
		if artifacts.IsLost(err) {
			return &DamagedRunError{rec.RunID, err}
		}
		return fmt.Errorf("run %s: %w", rec.RunID, err)
	}
	rec.Steps = body.Steps
	return nil
}

// openRun is the record of a run that has none yet: while it stands, garbage
// collection keeps all that is younger. Its plan names what the run may leave.
type openRun struct {
	Format   string           `json:"format"`
	RunID    string           `json:"run_id"`
	Pipeline string           `json:"pipeline"`
	Plan     artifacts.Digest `json:"plan"`
	Started  time.Time        `json:"started"`
}

// openFormat names the form of the records of open runs.
const openFormat = "redsi-open-run/1"

// beginRun says in the store that a run is in progress.
func beginRun(ctx context.Context, store artifacts.Store, id, pipeline string, plan artifacts.Digest) error {
	b, err := json.Marshal(openRun{openFormat, id, pipeline, plan, time.Now().UTC()})
	if err != nil {
		return err
	}
	err = store.Records.Create(ctx, artifacts.OpenRunPrefix+id, b)
	if errors.Is(err, artifacts.ErrExist) { // an attempt before this one was lost
		return nil
	}
	return err
}

// isOf reports whether an open run is one of a stored plan, or both plans have grown from one;
// it is not known of a plan that cannot be read.
func (o openRun) isOf(ctx context.Context, store artifacts.Store, d artifacts.Digest) bool {
	first := func(d artifacts.Digest) artifacts.Digest {
		if p, err := ReadPlan(ctx, store.Blobs, d); err == nil {
			return cmp.Or(p.First, d)
		}
		return d
	}
	return o.Plan == d || first(o.Plan) == first(d)
}

// closeRuns removes the open record of a run that has its record and, if that is whole,
// those of runs of the same plan that were killed: what they did is named by this
// record. One of another plan stays, though it be of the same pipeline: what it did
// under keys of its own, days of training for another variable among it, is named by
// nothing else.
func closeRuns(ctx context.Context, store artifacts.Store, rec workflows.RunRecord, whole bool) error {
	if err := store.Records.Delete(ctx, artifacts.OpenRunPrefix+rec.RunID); err != nil || !whole {
		return err
	}
	open, err := openRuns(ctx, store)
	if err != nil {
		return err
	}
	for _, o := range open {
		if o.isOf(ctx, store, rec.Plan) {
			if err := store.Records.Delete(ctx, artifacts.OpenRunPrefix+o.RunID); err != nil {
				return err
			}
		}
	}
	return nil
}

func openRuns(ctx context.Context, store artifacts.Store) ([]openRun, error) {
	var open []openRun
	for doc, err := range artifacts.DocumentsIn(ctx, store.Records, artifacts.OpenRunPrefix) {
		if err != nil {
			return nil, err
		}
		var o openRun
		if json.Unmarshal(doc.Text, &o) == nil && o.RunID == strings.TrimPrefix(doc.Name, artifacts.OpenRunPrefix) {
			open = append(open, o)
		}
	}
	return open, nil
}

// RecordHits writes the record of a run that found all of its steps done, if an
// earlier run of the pipeline is open: it may have been killed, and nothing else
// names what it left. An open run of another plan may stay so for long: a record that
// says the same is not written again.
func RecordHits(ctx context.Context, store artifacts.Store, pl *plan.Plan, rec workflows.RunRecord) error {
	open, err := openRuns(ctx, store)
	if err != nil {
		return err
	}
	open = slices.DeleteFunc(open, func(o openRun) bool { return o.Pipeline != rec.Pipeline })
	if len(open) == 0 {
		return nil
	}
	if rec.Plan, err = StorePlan(ctx, store.Blobs, pl); err != nil {
		return err
	}
	if !slices.ContainsFunc(open, func(o openRun) bool { return o.isOf(ctx, store, rec.Plan) }) {
		if other, err := unrecorded(ctx, store, rec); err != nil || !other {
			return err
		}
	}
	return WriteRun(ctx, store, rec)
}

// unrecorded reports whether the last run record names another plan, or other results.
func unrecorded(ctx context.Context, store artifacts.Store, rec workflows.RunRecord) (bool, error) {
	all := func(*workflows.RunRecord) bool { return true }
	for last, err := range Runs(ctx, store, "", all, 1) {
		if err != nil && !is[*DamagedRunError](err) {
			return true, err
		}
		return err != nil || last.Plan != rec.Plan || !slices.EqualFunc(last.Steps, rec.Steps, func(a, b workflows.RunStep) bool { return a.Key == b.Key }), nil
	}
	return true, nil
}
