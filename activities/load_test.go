package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// A plan is previewed once: a run that is told what was found done looks nothing up to
// load it, and its journal is what the client then reads.
func TestLoadTakesHits(t *testing.T) {
	const leaves = 300
	l := newLargeRun(t)
	d := l.wide(leaves)
	if _, _, err := l.run("1", d); err != nil {
		t.Fatal(err)
	}
	p, err := plan.Read(t.Context(), l.Store, d)
	errtest.None(t, err)
	looks := 0
	v, err := p.Follow(t.Context(), l.Registry, l.lookup, func(int, *plan.Item) bool { looks++; return false }, nil)
	if err != nil || looks != leaves+2 || !v.Done() {
		t.Fatalf("%d of %d steps were found: %v", looks, leaves+2, err)
	}
	hits, err := PagesOf(t.Context(), l.Store.Own.Blobs, HitsOf(v))
	errtest.None(t, err)
	store, counted := storetest.Faulty(l.Store.Own)
	l.Store = artifacts.Alone(store)
	read := func(hits *workflows.Pages[workflows.DoneStep]) int {
		before := counted.Calls(storetest.RecordsGet)
		out, err := l.Load(t.Context(), workflows.LoadRequest{Pipeline: "t.hcl", Plan: &d, Hits: hits})
		errtest.None(t, err)
		calls := counted.Calls(storetest.RecordsGet) - before
		if hits, err := rowsOf(t.Context(), l.Activities, out.Hits); err != nil || len(hits) != leaves+2 {
			t.Fatalf("%d hits: %v", len(hits), err)
		}
		return calls
	}
	if once, again := read(&hits), read(nil); again < leaves+2 || again-once != leaves+2 {
		t.Errorf("%d records are read with hits, %d without", once, again)
	}
	wrong, err := PagesOf(t.Context(), l.Store.Own.Blobs, []workflows.DoneStep{{Index: leaves + 2, Hit: true}})
	errtest.None(t, err)
	if _, err := l.Load(t.Context(), workflows.LoadRequest{Plan: &d, Hits: &wrong}); err == nil {
		t.Error("a hit of no step is taken")
	}
}

// TestPlansInMemory: a plan that many ask for at once is read once; one that is kept is there while
// another is read; and what plans take is bounded.
func TestPlansInMemory(t *testing.T) {
	l := newLargeRun(t)
	d, other := l.wide(3), l.wide(1)
	var opened, meanwhile atomic.Int32
	l.Store = artifacts.Alone(storetest.Hooked(l.Store.Own, func(ctx context.Context, c *storetest.Call, next func() error) error {
		if c.Method == storetest.BlobsOpen && c.Digest == d {
			opened.Add(1)
		}
		if c.Method == storetest.BlobsOpen && c.Digest == other {
			meanwhile.Add(1)
			if _, err := l.storedPlan(ctx, d); err != nil {
				t.Error(err)
			}
		}
		return next()
	}))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := l.storedPlan(t.Context(), d); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := opened.Load(); n != 1 {
		t.Errorf("the plan was read %d times", n)
	}
	if _, err := l.storedPlan(t.Context(), other); err != nil || meanwhile.Load() != 1 {
		t.Error(meanwhile.Load(), err)
	}
	big := &plan.Plan{Steps: []plan.Step{{Task: step.Task{Config: make([]byte, plansKept/3)}}}}
	for i := range 10 {
		if l.keep(artifacts.Sum([]byte{byte(i)}), big); len(l.plans) > 4 { // two of them small
			t.Fatalf("%d plans are kept", len(l.plans))
		}
	}
}

// TestManyLongErrors: the errors of all steps of an answer fit a payload.
func TestManyLongErrors(t *testing.T) {
	l := newLargeRun(t)
	p, err := l.storedPlan(t.Context(), l.wide(1))
	errtest.None(t, err)
	wide := *p
	wide.Steps = p.Steps[:1:1]
	task, err := l.leaf.Task(leafConfig{Text: "x", After: step.Inputs{{Ref: &step.Ref{Step: p.Steps[0].Address, Output: strings.Repeat("long", 500)}}}})
	errtest.None(t, err)
	req := workflows.PrepareRequest{RunID: "1", Steps: []workflows.Ready{{Index: 0}}}
	for i := range 1112 {
		wide.Steps = append(wide.Steps, plan.Step{Address: fmt.Sprint("step.leaf.b", i), Task: task, Deps: []int{0}})
		req.Steps = append(req.Steps, workflows.Ready{Index: i + 1})
	}
	if req.Plan, err = plan.Store(t.Context(), l.Store.Own.Blobs, p); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.run("1", req.Plan); err != nil {
		t.Fatal(err)
	}
	if req.Plan, err = plan.Store(t.Context(), l.Store.Own.Blobs, &wide); err != nil {
		t.Fatal(err)
	}
	if req.Keys, err = workflows.PagesOf([]workflows.DoneStep{{Index: 0}}, nil); err != nil {
		t.Fatal(err)
	}
	out, err := l.Prepare(t.Context(), req)
	b, merr := json.Marshal(out)
	if err != nil || merr != nil || !strings.Contains(out[1].Error, "has no output") || len(b) > payloadLimit/2 {
		t.Errorf("%d bytes, %.100q, %v, %v", len(b), out[1].Error, err, merr)
	}
}
