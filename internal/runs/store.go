package runs

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
	"github.com/redsi/redsi/internal/system/values"
)

// Forms of run records. The steps of the second are in the blob that it names, a JSON object with the one member "steps".
const (
	format     = "redsi-run/1"
	longFormat = "redsi-run/2"
)

// longSteps is how many bytes the steps in a record may have.
const longSteps = 256 << 10

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

// Write stores the record of a run, its steps in a blob if they are many, and closes the run: garbage collection goes by
// the record from now on.
func Write(ctx context.Context, store artifacts.Store, rec Record) error {
	steps, err := json.Marshal(body{rec.Steps})
	if err != nil {
		return err
	}
	finished := rec.finished()
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
	if err := Close(ctx, store, rec.RunID); err != nil || !finished {
		return err
	}
	return closeKilled(ctx, store, rec.Plan)
}

// finished reports whether every step of the run has a result, which the record names.
func (r *Record) finished() bool {
	return len(r.Steps) > 0 && !slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Key.IsZero() || !s.Finished() })
}

// DamagedError says that nobody can read a run's record, or the blob of its steps.
type DamagedError struct {
	RunID string
	Err   error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the record of run %s is damaged: %v", e.RunID, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// ReadHead reads the record of a run, without the steps of a long run, which stay in the blob that its Body names.
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

// Backward reads the records that of reports, of runs before a run ("": of all runs), newest first. It looks at so many
// runs of the store at most (0: all). The caller may go on after a *DamagedError.
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

// Open is the record of an open run: while it stands, garbage collection keeps everything younger. Its plan names the
// steps of the run.
type Open struct {
	Format   string           `json:"format"`
	RunID    string           `json:"run_id"`
	Pipeline string           `json:"pipeline"`
	Plan     artifacts.Digest `json:"plan"`
	Started  time.Time        `json:"started"`
}

const openFormat = "redsi-open-run/1"

func Begin(ctx context.Context, store artifacts.Store, id, pipeline string, plan artifacts.Digest) error {
	b, err := json.Marshal(Open{openFormat, id, pipeline, plan, time.Now().UTC()})
	if err != nil {
		return err
	}
	err = store.Records.Create(ctx, artifacts.OpenRunPrefix+id, b)
	if errors.Is(err, artifacts.ErrExist) { // an attempt before this one was lost
		return nil
	}
	return err
}

// IsOf reports whether an open run has a stored plan, or a plan that has grown from the same plan. A plan that cannot be
// read is taken not to have grown.
func (o Open) IsOf(ctx context.Context, blobs artifacts.BlobReader, plan artifacts.Digest) bool {
	return o.Plan == plan || firstOf(ctx, blobs, o.Plan) == firstOf(ctx, blobs, plan)
}

// firstOf returns the stored plan from which a stored plan has grown, or else the plan itself. It is all that this
// package knows of plans.
func firstOf(ctx context.Context, blobs artifacts.BlobReader, plan artifacts.Digest) artifacts.Digest {
	var p struct {
		Format string
		First  artifacts.Digest
	}
	b, err := artifacts.ReadBlob(ctx, blobs, plan, artifacts.AnySize)
	if err != nil || json.Unmarshal(b, &p) != nil || p.Format != "redsi-plan/1" { // plan.Format
		return plan
	}
	return cmp.Or(p.First, plan)
}

// Close removes the open record of a run, which has its record or will have none.
func Close(ctx context.Context, store artifacts.Store, id string) error {
	return store.Records.Delete(ctx, artifacts.OpenRunPrefix+id)
}

// closeKilled removes the open records of killed runs of a plan when the record of a finished run of that plan names
// all that they did. Open records of other plans stay, also of the same pipeline: nothing else names what those runs
// did under other keys, such as days of training for another variable.
func closeKilled(ctx context.Context, store artifacts.Store, plan artifacts.Digest) error {
	open, err := AllOpen(ctx, store)
	if err != nil {
		return err
	}
	for _, o := range open {
		if o.IsOf(ctx, store.Blobs, plan) {
			if err := Close(ctx, store, o.RunID); err != nil {
				return err
			}
		}
	}
	return nil
}

// AllOpen reads the records of open runs, except for damaged ones.
func AllOpen(ctx context.Context, store artifacts.Store) ([]Open, error) {
	var open []Open
	for doc, err := range artifacts.DocumentsIn(ctx, store.Records, artifacts.OpenRunPrefix) {
		if err != nil {
			return nil, err
		}
		var o Open
		if json.Unmarshal(doc.Text, &o) == nil && o.RunID == strings.TrimPrefix(doc.Name, artifacts.OpenRunPrefix) {
			open = append(open, o)
		}
	}
	return open, nil
}

// WriteHits writes the record of a run that found all of its steps done, if an earlier run of the pipeline is open: that
// run may have been killed, and nothing else names what it left. As an open run of another plan may stay open for long, a
// record that says the same as the last one is not written. plan stores the plan that was found done.
func WriteHits(ctx context.Context, store artifacts.Store, rec Record, plan func() (artifacts.Digest, error)) error {
	open, err := AllOpen(ctx, store)
	if err != nil {
		return err
	}
	open = slices.DeleteFunc(open, func(o Open) bool { return o.Pipeline != rec.Pipeline })
	if len(open) == 0 {
		return nil
	}
	if rec.Plan, err = plan(); err != nil {
		return err
	}
	if !slices.ContainsFunc(open, func(o Open) bool { return o.IsOf(ctx, store.Blobs, rec.Plan) }) {
		if other, err := unrecorded(ctx, store, rec); err != nil || !other {
			return err
		}
	}
	return Write(ctx, store, rec)
}

// unrecorded reports whether the last run's record names another plan, or other results.
func unrecorded(ctx context.Context, store artifacts.Store, rec Record) (bool, error) {
	for last, err := range Backward(ctx, store, "", func(*Record) bool { return true }, 1) {
		if _, damaged := errors.AsType[*DamagedError](err); err != nil && !damaged {
			return true, err
		}
		return err != nil || last.Plan != rec.Plan || !slices.EqualFunc(last.Steps, rec.Steps, func(a, b Step) bool { return a.Key == b.Key }), nil
	}
	return true, nil
}

// How many bytes of a step's log are kept: of its beginning, and of its end.
const (
	LogHead = 64 << 10
	LogTail = 1 << 20
)

// CutLine stands in a log for n bytes that were not kept.
func CutLine(n int64) []byte { return fmt.Appendf(nil, "\n[%d bytes are left out here]\n", n) }

// LiveLog is what a running step has said so far, for people who follow it. It is a record beside the step's lease, so
// that it is found wherever the store is, and goes with old leases.
type LiveLog struct {
	Said int64  `json:"said"` // bytes in all
	Text []byte `json:"text"` // the last of them
}

func LiveName(key artifacts.Digest) string { return key.Hex() + ".log" }

// ReadLive reads what a running step has said; nil if nothing is there.
func ReadLive(ctx context.Context, leases artifacts.Records, key artifacts.Digest) (*LiveLog, error) {
	b, err := leases.Get(ctx, LiveName(key))
	if errors.Is(err, artifacts.ErrNotExist) {
		return nil, nil
	}
	var l LiveLog
	if err == nil && json.Unmarshal(b, &l) != nil { // cut off by a loss of power
		return nil, nil
	}
	return &l, err
}
