package steplog

import (
	"bytes"
	"context"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
)

// Follower prints what a step says while it runs, each byte once.
type Follower struct {
	// Find finds the step in the pipeline of now. Its key is zero while it depends on a step to run.
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
		se.Targets = []string{target}
		v, err := se.Preview(ctx, session.Named(target))
		if err != nil {
			return v.Store, "", artifacts.Digest{}, err
		}
		i, err := v.Step(target)
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
		return l, false, f.rest(ctx, l)
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

// rest prints what of a whole log has not been printed.
func (f *Follower) rest(ctx context.Context, l *Log) error {
	text, err := l.Read(ctx, f.store)
	if err != nil {
		return err
	}
	if l.Cut == 0 {
		f.compare(text, 0)
	}
	return f.print(restOf(text, l.Cut, f.said))
}

// compare begins again if the text, which is a log's from a byte on, is not of the log that was printed.
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

// tell says something that is new.
func (f *Follower) tell(text string) {
	if text != f.told {
		f.told = text
		f.Say(text)
	}
}
