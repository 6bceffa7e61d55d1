// Package steplog finds what steps wrote when they ran: with their results, or with the
// records of their failures. It must not know flags, or how a log is shown.
package steplog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
)

type Log struct {
	Address string           `json:"address"`
	Key     artifacts.Digest `json:"key,omitzero"`
	Outcome string           `json:"outcome"`       // ran, failed, cancelled or running
	Run     string           `json:"run,omitempty"` // in which it ran
	Host    string           `json:"host,omitempty"`
	Ended   time.Time        `json:"ended,omitzero"`
	TookS   float64          `json:"took_s,omitempty"`
	Exit    string           `json:"exit_code,omitempty"` // nonzero, of a program that succeeded
	Error   string           `json:"error,omitempty"`
	Kept    bool             `json:"kept"` // there is a log, perhaps an empty one
	Note    string           `json:"note,omitempty"`
	Text    string           `json:"log"`
	Cut     int64            `json:"cut_bytes,omitempty"`

	of *artifacts.Log
}

// OfTarget finds the logs of a target's steps in the pipeline of now; failed: only of failures.
func OfTarget(ctx context.Context, se *session.Session, target string, failed bool) (*artifacts.Resolver, []Log, error) {
	se.Targets = []string{target}
	v, err := se.Preview(ctx, session.Named(target))
	if err != nil {
		return v.Store, nil, err
	}
	status := se.Hint("status")
	failures := sync.OnceValues(func() (map[string]runs.Failure, error) {
		return newestFailures(ctx, v.Store.Own, v.Plan, target, failed)
	})
	var logs []Log
	for i, s := range v.Plan.Steps {
		if !plan.Matches(target, s.Address) {
			continue
		}
		l, err := now(ctx, v.Store, s.Address, v.Items[i], failed, failures, status)
		if err != nil {
			return v.Store, nil, err
		}
		if l != nil {
			logs = append(logs, *l)
		}
	}
	if len(logs) == 0 {
		if err = fmt.Errorf("%s has not run: %s", target, se.ToRun(target)); failed {
			err = fmt.Errorf("no failure of %s is recorded", target)
		}
	}
	return v.Store, logs, err
}

// InRun finds logs of a run, and reads of the pipeline only which stores it names. target "": all steps.
func InRun(ctx context.Context, se *session.Session, run, target string, failed bool) (*artifacts.Resolver, []Log, error) {
	se.ReadResults(ctx)
	store, err := se.OpenStore(ctx)
	if err != nil {
		return store, nil, err
	}
	rec, err := se.FindRun(ctx, store.Own, run)
	if err != nil {
		return store, nil, err
	}
	logs, err := ofRun(ctx, store, rec, target, failed)
	return store, logs, err
}

// now finds the log of one step; nil if it has not run. failed: only of a failure. status: the command that shows it run.
func now(ctx context.Context, store *artifacts.Resolver, address string, it plan.Item, failed bool, failures func() (map[string]runs.Failure, error), status string) (*Log, error) {
	if it.Result != nil && !failed {
		return logOfResult(address, it.Result), nil
	}
	if it.Result == nil && !it.Key.IsZero() {
		l, err := lease.Of(ctx, store.Own.Leases, it.Key)
		if err != nil {
			return nil, err
		}
		if l != nil {
			return &Log{Address: address, Key: it.Key, Outcome: string(runs.Running), Run: l.Run, Host: l.Process.Machine,
				Note: "running: " + l.String() + "; its log is stored when it ends; redsi logs -f follows it; how far it is: " + status}, nil
		}
	}
	of, err := failures()
	f, ok := of[address]
	if err != nil || !ok {
		return nil, err
	}
	return logOfFailure(f), nil
}

// newestFailures are the last failures of a target's steps or their parts, by step.
func newestFailures(ctx context.Context, store artifacts.Store, pl *plan.Plan, target string, failed bool) (map[string]runs.Failure, error) {
	wanted := map[string]bool{}
	for _, s := range pl.Steps {
		wanted[s.Address] = plan.Matches(target, s.Address)
	}
	newest := map[string]runs.Failure{}
	err := runs.Failures(ctx, store, "", func(f runs.Failure) bool {
		address := runs.StepOf(f.Step)
		if wanted[address] && (!failed || f.Outcome == runs.Failed) {
			newest[address], wanted[address] = f, false
		}
		return true
	})
	return newest, err
}

func ofRun(ctx context.Context, store *artifacts.Resolver, rec *runs.Record, target string, failed bool) ([]Log, error) {
	failures := map[string][]runs.Failure{}
	err := runs.Failures(ctx, store.Own, rec.RunID, func(f runs.Failure) bool {
		address := runs.StepOf(f.Step)
		failures[address] = append(failures[address], f)
		return true
	})
	if err != nil {
		return nil, err
	}
	steps := slices.DeleteFunc(rec.Steps, func(s runs.Step) bool {
		return target != "" && !plan.Matches(target, s.Address) || failed && s.Outcome != runs.Failed
	})
	var keys []artifacts.Digest
	for _, s := range steps {
		if s.Finished() {
			keys = append(keys, s.Key)
		}
	}
	entries := map[artifacts.Digest]artifacts.Entry{}
	for some := range slices.Chunk(keys, journal.InspectMost) {
		found, err := artifacts.Inspect(ctx, store, some)
		if err != nil {
			return nil, err
		}
		maps.Copy(entries, found)
	}
	var logs []Log
	for _, s := range steps {
		switch {
		case s.Finished():
			if e := entries[s.Key]; e.Result == nil {
				logs = append(logs, Log{Address: s.Address, Key: s.Key, Outcome: string(s.Outcome), Run: rec.RunID, Note: "its log was lost with its result: " + e.Miss()})
			} else {
				logs = append(logs, *logOfResult(s.Address, e.Result))
			}
		case len(failures[s.Address]) > 0:
			for _, f := range failures[s.Address] {
				logs = append(logs, *logOfFailure(f))
			}
		default:
			logs = append(logs, Log{Address: s.Address, Key: s.Key, Outcome: string(s.Outcome), Run: rec.RunID, Error: s.Error,
				Note: "no log from that run: it did not start there, or that version of redsi kept no logs"})
		}
	}
	switch {
	case len(logs) > 0:
		return logs, nil
	case failed:
		return nil, fmt.Errorf("no such step failed in run %s", rec.RunID)
	}
	return nil, fault.Input(fmt.Errorf("run %s has no step %s", rec.RunID, target))
}

func logOfResult(address string, r *artifacts.Result) *Log {
	l := &Log{Address: address, Key: r.Key, Outcome: string(runs.Ran), Run: r.Origin.RunID, Host: runs.Place(r.Env),
		Ended: r.Finished, TookS: r.Took.Seconds(), Exit: r.Env[exitCode], of: r.Log}
	if l.of == nil {
		l.Note = "it has no log: the version of redsi that ran it kept none"
	}
	return l
}

func logOfFailure(f runs.Failure) *Log {
	l := &Log{Address: f.Step, Key: f.Key, Outcome: string(f.Outcome), Run: f.RunID, Host: f.Host, Ended: f.Ended, TookS: f.TookS, Error: f.Error, of: f.Log}
	if f.Attempt > 1 {
		l.Note = fmt.Sprintf("attempt %d", f.Attempt)
	}
	return l
}

// exitCode is where a result has the nonzero exit code of a program that succeeded.
const exitCode = "step: exit code"

// Read reads the log's text, and notes what is left of it.
func (l *Log) Read(ctx context.Context, store *artifacts.Resolver) (text []byte, err error) {
	if l.of == nil {
		return nil, nil
	}
	if l.Kept, l.Cut = true, l.of.Cut; l.of.Size == 0 {
		return nil, nil
	}
	text, err = artifacts.ReadBlob(ctx, store, l.of.Digest, artifacts.AnySize)
	switch {
	case errors.Is(err, artifacts.ErrNotExist):
		l.Kept, l.Note = false, "its log is no longer in the store"
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: its log: %w", l.Address, err)
	}
	return text, nil
}

// Empty reports whether there is a log that says nothing.
func (l *Log) Empty() bool { return l.Kept && l.of.Size == 0 }

// Follower prints what a step says while it runs, each byte once.
type Follower struct {
	// Find finds the step in the pipeline of now. Its key is zero until the steps that it reads have run.
	Find  func(ctx context.Context) (*artifacts.Resolver, string, artifacts.Digest, error)
	Open  func(ctx context.Context) bool // whether a run is open, which may begin the step or run it
	Print func(text []byte) error
	Say   func(text string)
	Pause func(ctx context.Context) error // until the next look

	store   *artifacts.Resolver
	address string
	key     artifacts.Digest
	run     string // in which it was seen running
	said    int64  // bytes that are printed
	last    []byte // the last of them
	told    string
}

// Target is the Find of a pipeline's step.
func Target(se *session.Session, target string) func(ctx context.Context) (*artifacts.Resolver, string, artifacts.Digest, error) {
	return func(ctx context.Context) (*artifacts.Resolver, string, artifacts.Digest, error) {
		v, i, err := se.PreviewStep(ctx, target)
		if err != nil {
			return v.Store, "", artifacts.Digest{}, err
		}
		return v.Store, v.Plan.Steps[i].Address, v.Items[i].Key, nil
	}
}

// Follow prints what the step says until it ends, and returns how it ended.
func (f *Follower) Follow(ctx context.Context) (*Log, error) {
	closed := 0 // looks in turn at which no run was open; after one, a run may be starting
	for {
		var err error
		if f.key.IsZero() {
			if f.store, f.address, f.key, err = f.Find(ctx); err != nil {
				return nil, err
			}
		}
		if closed++; f.Open(ctx) { // before the look: what a run that has ended left is there then
			closed = 0
		}
		end, running, err := f.look(ctx)
		switch {
		case err != nil || end != nil:
			return end, err
		case closed > 1 && running:
			return nil, fault.Failed(fmt.Errorf("%s no longer runs: run %s is not open any more. Its process was killed, or the cluster cannot be reached", f.address, f.run))
		case closed > 1:
			return nil, fault.Failed(fmt.Errorf("%s is not running, and no run is open that would begin it, or the cluster cannot be reached", f.address))
		case !running:
			f.tell("waiting for " + f.address + " to begin")
		}
		if err := f.Pause(ctx); err != nil {
			return nil, err
		}
	}
}

// look prints what is new, and returns the end of the step, if it has one.
func (f *Follower) look(ctx context.Context) (end *Log, running bool, err error) {
	if f.key.IsZero() {
		return nil, false, nil
	}
	r, err := artifacts.Lookup(ctx, f.store, f.key)
	if err != nil {
		return nil, false, err
	}
	l, err := now(ctx, f.store, f.address, plan.Item{Key: f.key, Result: r}, false, func() (map[string]runs.Failure, error) { return f.failures(ctx) }, "")
	switch {
	case err != nil || l == nil:
		return nil, false, err
	case l.Outcome != string(runs.Running):
		text, err := l.Read(ctx, f.store)
		if err != nil {
			return l, false, err
		}
		if l.Cut == 0 {
			f.compare(text, 0)
		}
		return l, false, f.print(restOf(text, l.Cut, f.said))
	}
	f.run = l.Run
	f.tell(fmt.Sprintf("following %s of run %s (process on %s)", f.address, l.Run, l.Host))
	live, err := runs.ReadLive(ctx, f.store.Own.Leases, f.key)
	if err != nil || live == nil {
		return nil, true, err
	}
	begin := live.Said - int64(len(live.Text))
	f.compare(live.Text, begin)
	if lost := begin - f.said; lost > 0 {
		f.Say(fmt.Sprintf("%d bytes came too fast to be shown; redsi logs has them when the step has ended", lost))
		f.said, f.last = begin, nil
	}
	text := live.Text[f.said-begin:]
	return nil, true, f.print(text[:bytes.LastIndexAny(text, "\r\n")+1])
}

// failures are how the step failed for good in the run in which it was seen.
func (f *Follower) failures(ctx context.Context) (map[string]runs.Failure, error) {
	found := map[string]runs.Failure{}
	if f.run == "" {
		return nil, nil
	}
	return found, runs.Failures(ctx, f.store.Own, f.run, func(x runs.Failure) bool {
		if x.Key == f.key && x.Part.IsZero() && (x.Permanent || x.Outcome == runs.Cancelled) {
			found[f.address] = x
		}
		return true
	})
}

// compare restarts if a log's text, from a byte on, differs from what was printed.
func (f *Follower) compare(text []byte, begin int64) {
	to := f.said - begin
	from := to - int64(len(f.last))
	if to > int64(len(text)) || from >= 0 && !bytes.Equal(text[from:to], f.last) {
		f.Say(f.address + " was started again")
		f.said, f.last = 0, nil
	}
}

// restOf is what comes after the first n bytes of a log, as far as it was kept.
func restOf(text []byte, cut, n int64) []byte {
	if cut > 0 && n > runs.LogHead {
		text = text[runs.LogHead+len(runs.CutLine(cut)):]
		n = max(0, n-runs.LogHead-cut)
	}
	return text[min(n, int64(len(text))):]
}

func (f *Follower) print(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	f.said += int64(len(text))
	f.last = bytes.Clone(text[max(0, len(text)-256):])
	return f.Print(text)
}

func (f *Follower) tell(text string) {
	if text != f.told {
		f.told = text
		f.Say(text)
	}
}
