package activities

import (
	"testing"

	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/storetest"
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
	p, err := ReadPlan(t.Context(), l.Store.Blobs, d)
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	v, err := p.Follow(t.Context(), l.Registry, l.lookup, func(int, *plan.Item) bool { looks++; return false }, nil)
	if err != nil || looks != leaves+2 || !v.Done() {
		t.Fatalf("%d of %d steps were found: %v", looks, leaves+2, err)
	}
	hits, err := PagesOf(t.Context(), l.Store.Blobs, HitsOf(v))
	if err != nil {
		t.Fatal(err)
	}
	var counted *storetest.Faults
	l.Store, counted = storetest.Faulty(l.Store)
	read := func(known *workflows.Pages[workflows.DoneStep]) int {
		before := counted.Calls(storetest.RecordsGet)
		out, err := l.Load(t.Context(), workflows.LoadRequest{Pipeline: "t.hcl", Plan: &d, Hits: known})
		if err != nil {
			t.Fatal(err)
		}
		calls := counted.Calls(storetest.RecordsGet) - before
		if hits, err := rowsOf(t.Context(), l.Activities, out.Hits); err != nil || len(hits) != leaves+2 {
			t.Fatalf("%d hits: %v", len(hits), err)
		}
		return calls
	}
	if once, again := read(&hits), read(nil); again < leaves+2 || again-once != leaves+2 {
		t.Errorf("%d records are read with hits, %d without", once, again)
	}
	wrong, err := PagesOf(t.Context(), l.Store.Blobs, []workflows.DoneStep{{Index: leaves + 2, Hit: true}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Load(t.Context(), workflows.LoadRequest{Plan: &d, Hits: &wrong}); err == nil {
		t.Error("a hit of no step is taken")
	}
}
