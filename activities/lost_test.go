package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"go.temporal.io/sdk/activity"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/workflows"
)

// results are those of a plan's steps, in its order; nil: there is none.
func (l *largeRun) results(d artifacts.Digest) []*artifacts.Result {
	l.t.Helper()
	p, err := l.storedPlan(l.t.Context(), d)
	errtest.None(l.t, err)
	v, err := p.Follow(l.t.Context(), l.Registry, l.lookup, plan.KeepAll, nil)
	errtest.None(l.t, err)
	out := make([]*artifacts.Result, len(v.Items))
	for i, it := range v.Items {
		out[i] = it.Result
	}
	return out
}

// lose deletes the bytes of a result or, of every second one, its record.
func (l *largeRun) lose(i int, r *artifacts.Result) {
	l.t.Helper()
	err := l.Store.Own.Blobs.Delete(context.Background(), r.Outputs["out"].Digest)
	if i%2 > 0 {
		err = l.Store.Own.Records.Delete(context.Background(), artifacts.ResultName(r.Key))
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// TestLostInBulk: inputs of a step that are lost after the run has found them are made again,
// those alone, once each.
func TestLostInBulk(t *testing.T) {
	const leaves = 1000
	l := newLargeRun(t)
	d := l.wide(leaves)
	if res, _, err := l.run("1", d); err != nil || res.Ran != leaves+2 {
		t.Fatalf("%+v, %v", res, err)
	}
	digests := map[string]bool{}
	for _, r := range l.results(d) {
		digests[r.Outputs["out"].Digest.Hex()] = true
	}
	for n, lost := range []int{1, leaves - 7} {
		found := l.results(d)
		for i, r := range found[leaves:] { // so that the run needs the leaves
			l.lose(i, r)
		}
		l.done = func(what string) {
			if what != workflows.LoadActivity {
				return
			}
			for i, r := range found[:lost] {
				l.lose(i, r)
			}
			l.done = nil
		}
		before := l.ran.Load()
		res, executions, err := l.run(fmt.Sprint("lost ", n), d)
		if err != nil || res.Ran != lost+2 || res.Hit != leaves-lost || l.ran.Load()-before != int64(lost+2) {
			t.Fatalf("%d inputs lost: %+v in %d executions, %d ran: %v", lost, res, executions, l.ran.Load()-before, err)
		}
		for _, r := range l.results(d) {
			if r == nil || !digests[r.Outputs["out"].Digest.Hex()] {
				t.Fatalf("%d inputs lost: a step has another result: %+v", lost, r)
			}
		}
	}
	if l.most.Load() > payloadLimit/2 {
		t.Errorf("largest payload: %d bytes", l.most.Load())
	}
}

// ailing makes a method of a store fail in the first attempts of an activity.
type ailing struct {
	activity string
	method   storetest.Method
	attempts int32
	failed   atomic.Int64
}

var errAway = errors.New("503 Slow Down")

func (a *ailing) err(ctx context.Context, c *storetest.Call) error {
	if !activity.IsActivity(ctx) || c.Method != a.method {
		return nil
	}
	if info := activity.GetInfo(ctx); info.ActivityType.Name != a.activity || info.Attempt > a.attempts {
		return nil
	}
	a.failed.Add(1)
	return errAway
}

// TestStoreAwayInPrepare: while a run looks steps up, or finds out what there is, its
// store answers with errors for a while: it is asked again, nothing runs twice, and the
// run goes on. A store that stays away ends the run with its words, and what was done
// is there for the next one.
func TestStoreAwayInPrepare(t *testing.T) {
	const leaves = 20
	for _, c := range []struct {
		activity string
		method   storetest.Method
	}{
		{workflows.PrepareActivity, storetest.BlobsMissing}, {workflows.PrepareActivity, storetest.RecordsGet},
		{workflows.LoadActivity, storetest.BlobsOpen}, {workflows.LoadActivity, storetest.RecordsGet},
	} {
		for _, attempts := range []int32{errorTries - 1, errorTries} {
			what := fmt.Sprintf("%s, %s, %d attempts", c.activity, c.method, attempts)
			l := newLargeRun(t)
			d := l.wide(leaves)
			store := l.Store
			away := &ailing{activity: c.activity, method: c.method, attempts: attempts}
			l.Store = artifacts.Alone(storetest.Hooked(store.Own, storetest.Before(away.err)))
			res, _, err := l.run("1", d)
			if away.failed.Load() < int64(attempts) {
				t.Errorf("%s: it failed %d times", what, away.failed.Load())
			}
			if attempts < errorTries {
				if err != nil || res.Ran != leaves+2 || l.ran.Load() != leaves+2 {
					t.Errorf("%s: %+v, %d ran: %v", what, res, l.ran.Load(), err)
				}
				continue
			}
			errtest.Says(t, err, errAway.Error(), "tried 10 times")
			l.Store = store
			if res, _, err := l.run("2", d); err != nil || res.Hit+res.Ran != leaves+2 || l.ran.Load() != leaves+2 {
				t.Errorf("%s, and then again: %+v, %d ran: %v", what, res, l.ran.Load(), err)
			}
		}
	}
}

// forgetful is a store that writes a result and goes away before it says so, in the
// first attempt of each step.
type forgetful struct{ written sync.Map }

func (f *forgetful) first(ctx context.Context) bool {
	return activity.IsActivity(ctx) && activity.GetInfo(ctx).ActivityType.Name == workflows.ExecuteActivity && activity.GetInfo(ctx).Attempt == 1
}

func (f *forgetful) call(ctx context.Context, c *storetest.Call, next func() error) error {
	if _, written := f.written.Load(c.Name); written && c.Method == storetest.RecordsGet && f.first(ctx) {
		return errAway
	}
	err := next()
	if err == nil && c.Method == storetest.RecordsCreate && f.first(ctx) {
		f.written.Store(c.Name, true)
		err = errAway
	}
	return err
}

// TestAnswerLost: a step whose result is written by an attempt that nobody hears of has
// run in this run and is not a hit of it; for the next run it is one.
func TestAnswerLost(t *testing.T) {
	const leaves = 5
	l := newLargeRun(t)
	d := l.wide(leaves)
	l.Store = artifacts.Alone(storetest.Hooked(l.Store.Own, new(forgetful).call))
	if res, _, err := l.run("1", d); err != nil || res.Ran != leaves+2 || res.Hit != 0 || l.ran.Load() != leaves+2 {
		t.Errorf("%+v, %d ran: %v", res, l.ran.Load(), err)
	}
	if res, _, err := l.run("2", d); err != nil || res.Ran != 0 || res.Hit != leaves+2 {
		t.Errorf("%+v: %v", res, err)
	}
}
