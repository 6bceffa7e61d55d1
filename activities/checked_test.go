package activities

import (
	"context"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// checkedPlan is a plan of one step whose output a check reads.
func (l *largeRun) checkedPlan(text string) (*plan.Plan, artifacts.Digest) {
	l.t.Helper()
	task, err := l.leaf.Task(leafConfig{Text: text})
	errtest.None(l.t, err)
	task.Checks = []step.Check{{Name: "a", Field: "out:a", Min: &step.Limit{}}}
	p := &plan.Plan{Format: plan.Format, Pipeline: "t.hcl", Steps: []plan.Step{{Address: "step.leaf.a", Task: task, Inline: true}}}
	d, err := plan.Store(l.t.Context(), l.Store.Own.Blobs, p)
	errtest.None(l.t, err)
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
	if err != nil || v.Items[0].Outcome != plan.Hit || len(v.Items[0].Snags().Fails) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}
