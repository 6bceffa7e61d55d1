package activities

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/workflows"
)

// FailureFormat names the form of the records of failures.
const FailureFormat = "redsi-failure/1"

// How a step ended that left no result.
const (
	FailedStep    = "failed"
	CancelledStep = "cancelled" // or its worker was stopped
)

// Failure is what is known of a step that a run began and that left no result: the
// record "failures/<run id>/<hex key>", of its last attempt. It is for people: no plan
// goes by it, and it goes with its run.
type Failure struct {
	Format  string           `json:"format"`
	RunID   string           `json:"run_id"`
	Step    string           `json:"step"` // its address; of a part, with the part's name after it
	Key     artifacts.Digest `json:"key"`
	Outcome string           `json:"outcome"`
	Error   string           `json:"error"`
	Attempt int32            `json:"attempt"`
	Host    string           `json:"host,omitempty"`
	Ended   time.Time        `json:"ended"`
	TookS   float64          `json:"took_s"`
	Log     *artifacts.Log   `json:"log,omitempty"`
}

// failureTime bounds the storing of a failure, which must not hold up its telling.
const failureTime = 10 * time.Second

// keepFailure records how a step failed. That may fail too, for the same reason: it is
// only told.
func (a *Activities) keepFailure(ctx context.Context, req workflows.ExecuteRequest, began time.Time, log *stepLog, cause error) {
	if req.RunID == "" {
		return
	}
	f := Failure{Format: FailureFormat, RunID: req.RunID, Step: req.Address, Key: req.Key, Outcome: FailedStep, Error: errorText(cause),
		Attempt: 1, Host: a.Env["host"], Ended: time.Now().UTC(), TookS: time.Since(began).Seconds()}
	if ctx.Err() != nil {
		f.Outcome = CancelledStep
	}
	if activity.IsActivity(ctx) {
		f.Attempt = activity.GetInfo(ctx).Attempt
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), failureTime)
	defer stop()
	f.Log = log.keep(ctx, a, req.Address)
	b, err := json.Marshal(f)
	if err == nil {
		err = a.Store.Records.Put(ctx, failureName(f.RunID, f.Key), b)
	}
	if err != nil {
		a.Log.Warn("how a step failed could not be recorded", "step", req.Address, "err", err)
	}
}

func failureName(run string, key artifacts.Digest) string {
	return artifacts.FailedPrefix + run + "/" + key.Hex()
}

// FailuresOf reads what is known of the failures of a run, or of all runs if it is "",
// the newest first, until each returns false. A record that is damaged is passed over.
func FailuresOf(ctx context.Context, store artifacts.Store, run string, each func(Failure) bool) error {
	prefix := artifacts.FailedPrefix
	if run != "" {
		prefix += run + "/"
	}
	names, err := recordNames(ctx, store.Records, prefix)
	if err != nil {
		return err
	}
	slices.SortFunc(names, func(x, y string) int { return strings.Compare(y, x) }) // ids of runs begin with their time
	for _, name := range names {
		b, err := store.Records.Get(ctx, name)
		if errors.Is(err, artifacts.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		var f Failure
		if json.Unmarshal(b, &f) == nil && f.Format == FailureFormat && failureName(f.RunID, f.Key) == name && f.Log.Validate() == nil && !each(f) {
			return nil
		}
	}
	return nil
}
