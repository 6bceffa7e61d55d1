package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// Open is the record of a run that has none yet: while it stands, garbage
// collection keeps all that is younger. Its plan names what the run may leave.
type Open struct {
	Format   string           `json:"format"`
	RunID    string           `json:"run_id"`
	Pipeline string           `json:"pipeline"`
	Plan     artifacts.Digest `json:"plan"`
	Started  time.Time        `json:"started"`
}

// openFormat names the form of the records of open runs.
const openFormat = "redsi-open-run/1"

// Begin says in the store that a run is in progress.
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

// IsOf reports whether an open run is one of a stored plan, or both plans have grown from one;
// it is not known of a plan that cannot be read.
func (o Open) IsOf(ctx context.Context, blobs artifacts.Blobs, plan artifacts.Digest) bool {
	return o.Plan == plan || firstOf(ctx, blobs, o.Plan) == firstOf(ctx, blobs, plan)
}

// planFormat is plan.Format. Of plans this package knows no more than firstOf reads.
const planFormat = "redsi-plan/1"

// firstOf is the stored plan from which a stored plan has grown, or else that itself.
func firstOf(ctx context.Context, blobs artifacts.Blobs, plan artifacts.Digest) artifacts.Digest {
	var p struct {
		Format string           `json:"format"`
		First  artifacts.Digest `json:"first"`
	}
	b, err := artifacts.ReadBlob(ctx, blobs, plan, artifacts.AnySize)
	if err != nil || json.Unmarshal(b, &p) != nil || p.Format != planFormat {
		return plan
	}
	return cmp.Or(p.First, plan)
}

// Close removes the open record of a run that has its record, or will have none.
func Close(ctx context.Context, store artifacts.Store, id string) error {
	return store.Records.Delete(ctx, artifacts.OpenRunPrefix+id)
}

// closeKilled removes the open records of runs of a plan that were killed, when a whole run of
// it has its record: what they did is named by that. One of another plan stays, though it be of
// the same pipeline: what it did under keys of its own, days of training for another variable
// among it, is named by nothing else.
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

// AllOpen reads the records of open runs; what cannot be read as one is left out.
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

// WriteHits writes the record of a run that found all of its steps done, if an
// earlier run of the pipeline is open: it may have been killed, and nothing else
// names what it left. An open run of another plan may stay so for long: a record that
// says the same is not written again. plan stores the plan that was found done.
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

// unrecorded reports whether the last run record names another plan, or other results.
func unrecorded(ctx context.Context, store artifacts.Store, rec Record) (bool, error) {
	all := func(*Record) bool { return true }
	for last, err := range Backward(ctx, store, "", all, 1) {
		if _, damaged := errors.AsType[*DamagedError](err); err != nil && !damaged {
			return true, err
		}
		return err != nil || last.Plan != rec.Plan || !slices.EqualFunc(last.Steps, rec.Steps, func(a, b Step) bool { return a.Key == b.Key }), nil
	}
	return true, nil
}
