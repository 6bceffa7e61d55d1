package activities

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/workflows"
)

// failureFormat names the form of the records of failures.
const failureFormat = "redsi-failure/1"

// How a step ended that left no result.
const (
	FailedStep    = "failed"
	CancelledStep = "cancelled" // or its worker was stopped
)

// Failure is what is known of a step that a run began and that left no result: the
// record "failures/<run id>/<hex key>", of its last attempt. It is for people: a plan
// shows what failed for good under a key that must run, and tries it again all the same.
// It goes with its run.
type Failure struct {
	Format  string           `json:"format"`
	RunID   string           `json:"run_id"`
	Step    string           `json:"step"` // its address; of a part, with the part's name after it
	Key     artifacts.Digest `json:"key"`
	Outcome string           `json:"outcome"`
	Error   string           `json:"error"`
	Attempt int32            `json:"attempt"`
	Tries   int              `json:"tries,omitempty"` // of a step with retry, that its program has failed in this run
	Host    string           `json:"host,omitempty"`
	Ended   time.Time        `json:"ended"`
	TookS   float64          `json:"took_s"`
	Log     *artifacts.Log   `json:"log,omitempty"`

	// Permanent says that no retry within its run could fix it, or that none did.
	Permanent bool   `json:"permanent,omitempty"`
	Revision  string `json:"revision,omitempty"` // of redsi

	// Part is, in a record under the key of a step that works in parts, the key of the part
	// that failed for good, whose own record has the log.
	Part artifacts.Digest `json:"part,omitzero"`
}

// failureTime bounds an attempt to store a failure, and outageTime the attempts at what nothing
// says later: no run ends before its store is back.
const (
	failureTime = 10 * time.Second
	outageTime  = time.Minute
)

// insist does what a store that is away refuses again, each second until most is over or ctx is.
func insist(ctx context.Context, most time.Duration, do func() error) error {
	for end := time.Now().Add(most); ; {
		err := do()
		if err == nil || hopeless(err) != "" || !time.Now().Before(end) || readers.Pause(ctx, time.Second) != nil {
			return err
		}
	}
}

// keepFailure records how a step failed. That may fail too: it is only told then, and an
// attempt that is not the last says so again.
func (a *Activities) keepFailure(ctx context.Context, req workflows.ExecuteRequest, of admitted, took time.Duration, log *stepLog, cause error) {
	if req.RunID == "" {
		return
	}
	f := Failure{Format: failureFormat, RunID: req.RunID, Step: req.Address, Key: req.Key, Outcome: FailedStep, Error: errorText(cause),
		Attempt: attemptOf(ctx), Host: a.Env["host"], Ended: time.Now().UTC(), TookS: took.Seconds()}
	f.Tries = of.failed
	if again, ok := errors.AsType[*failedTry](cause); ok {
		f.Tries = again.failed
		a.Log.Warn("its program failed; it is tried again", "step", req.Address, "try", again.failed, "of", of.asks.Tries+1)
	}
	if ctx.Err() != nil {
		f.Outcome = CancelledStep
	}
	f.Revision, f.Permanent = a.Env["revision"], f.Outcome == FailedStep && permanent(cause, failed(ctx).Load()+1)
	most := time.Duration(0)
	if f.Permanent || f.Tries > of.failed {
		most = outageTime
	}
	if err := insist(ctx, most, func() error {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), failureTime)
		defer stop()
		f := f
		f.Log = log.keep(ctx, a, req.Address)
		err := artifacts.PutJSON(ctx, a.Store.Records, failureName(f.RunID, f.Key), f)
		if f.Permanent && !req.Whole.IsZero() {
			f.Key, f.Part, f.Log = req.Whole, req.Key, nil
			err = errors.Join(err, artifacts.PutJSON(ctx, a.Store.Records, failureName(f.RunID, f.Key), f))
		}
		return err
	}); err != nil {
		a.Log.Warn("could not record the step's failure", "step", req.Address, "err", err)
	}
}

// Remembered is what is known of the failures of a step under one key.
type Remembered struct {
	Failure     // the newest
	Times   int // that it failed for good, in so many runs
}

// PermanentFailures reads what failed for good under keys, of the runs that the store
// remembers. It lists all failures and reads those of the keys.
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
		if json.Unmarshal(doc.Text, &f) != nil || f.Format != failureFormat || f.Key != key || !f.Permanent || f.Outcome != FailedStep {
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

func failureName(run string, key artifacts.Digest) string {
	return artifacts.FailedPrefix + run + "/" + key.Hex()
}

// FailuresOf reads what is known of the failures of a run, or of all runs if it is "",
// the newest first, until each returns false. A record that is damaged is passed over, and so is what a part
// of a step left under the key of that: it has its own.
func FailuresOf(ctx context.Context, store artifacts.Store, run string, each func(Failure) bool) error {
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
