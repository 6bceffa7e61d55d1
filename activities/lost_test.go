package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"go.temporal.io/sdk/activity"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

func (l *largeRun) lookup(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
	return artifacts.LookupMany(ctx, l.Store, keys)
}

// results are those of a plan's steps, in its order; nil: there is none.
func (l *largeRun) results(d artifacts.Digest) []*artifacts.Result {
	l.t.Helper()
	p, err := l.storedPlan(l.t.Context(), d)
	testkit.None(l.t, err)
	v, err := p.Follow(l.t.Context(), l.Registry, l.lookup, plan.KeepAll, nil)
	testkit.None(l.t, err)
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
			testkit.ErrSays(t, err, errAway.Error(), "tried 10 times")
			l.Store = store
			if res, _, err := l.run("2", d); err != nil || res.Hit+res.Ran != leaves+2 || l.ran.Load() != leaves+2 {
				t.Errorf("%s, and then again: %+v, %d ran: %v", what, res, l.ran.Load(), err)
			}
		}
	}
}

// checkedPlan is a plan of one step whose output a check reads.
func (l *largeRun) checkedPlan(text string) (*plan.Plan, artifacts.Digest) {
	l.t.Helper()
	task, err := l.leaf.Task(leafConfig{Text: text})
	testkit.None(l.t, err)
	task.Checks = []step.Check{{Name: "a", Field: "out:a", Min: &step.Limit{}}}
	p := &plan.Plan{Format: plan.Format, Pipeline: "t.hcl", Steps: []plan.Step{{Address: "step.leaf.a", Task: task, Inline: true}}}
	d, err := plan.Store(l.t.Context(), l.Store.Own.Blobs, p)
	testkit.None(l.t, err)
	return p, d
}

// TestCheckOnAilingStore: what a check could not read says nothing about the step. The store is
// asked again, and bytes that it has lost are made again.
func TestCheckOnAilingStore(t *testing.T) {
	l := newLargeRun(t)
	p, d := l.checkedPlan(`{"a": 1}`)
	if res, _, err := l.run("1", d); err != nil {
		t.Fatal(res, err)
	}
	req := workflows.PrepareRequest{Plan: d, RunID: "2", Steps: []workflows.Ready{{Index: 0}}}
	healthy := l.Store
	for what, ask := range map[string]func() error{
		"Prepare": func() error { _, err := l.Prepare(t.Context(), req); return err },
		"Load":    func() error { _, _, err := l.hits(t.Context(), p, "", false); return err },
	} {
		faulty, faults := storetest.Faulty(healthy.Own)
		l.Store = artifacts.Alone(faulty)
		faults.Add(storetest.BlobsOpen, storetest.Fault{Err: errAway})
		if err := ask(); err == nil || step.IsPermanent(err) {
			t.Errorf("%s: %v, permanent %v", what, err, step.IsPermanent(err))
		}
	}
	out := artifacts.Sum([]byte(`{"a": 1}`))
	l.Store = artifacts.Alone(storetest.Hooked(healthy.Own, func(_ context.Context, c *storetest.Call, next func() error) error {
		if c.Method == storetest.BlobsOpen && c.Digest == out && l.ran.Load() == 1 {
			return &artifacts.IntegrityError{Want: out, Where: "the store", Got: artifacts.Sum(nil)}
		}
		return next()
	}))
	if v, err := l.follow(t.Context(), p, "", nil, func(int, *plan.Item) bool { return false }); err != nil || v.Items[0].Outcome != plan.Run || v.Items[0].Key.IsZero() {
		t.Errorf("%+v, %v", v, err)
	}
	if res, _, err := l.run("3", d); err != nil || res.Ran != 1 || l.ran.Load() != 2 {
		t.Errorf("%+v, %d ran: %v", res, l.ran.Load(), err)
	}
}

// TestCheckOfAnUnreadableOutput: an output that a check cannot read fails the step and no plan.
func TestCheckOfAnUnreadableOutput(t *testing.T) {
	l := newLargeRun(t)
	p, d := l.checkedPlan("epoch 1")
	if _, _, err := l.run("1", d); err == nil || !strings.Contains(err.Error(), `check "a" fails: the output is not JSON`) || l.ran.Load() != 1 {
		t.Errorf("%d ran: %v", l.ran.Load(), err)
	}
	v, err := l.follow(t.Context(), p, "", nil, func(int, *plan.Item) bool { return false })
	testkit.That(t, err == nil && v.Items[0].Outcome == plan.Hit && len(v.Items[0].Snags().Fails) == 1, v, err)
}
