package activities

import (
	"context"
	"testing"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/workflows"
)

// TestOwnResults: what a run has made counts as made by it, although the attempt or
// execution that made it could not tell; to another run it is a hit.
func TestOwnResults(t *testing.T) {
	const leaves = 3
	l := newLargeRun(t)
	d := l.wide(leaves)
	ctx := context.Background()
	steps := []workflows.Ready{{Index: 0}, {Index: 1}, {Index: 2}}
	batch := func(run string) []workflows.Outcome {
		t.Helper()
		out, err := l.Do(ctx, workflows.DoRequest{Plan: d, RunID: run, Steps: steps})
		if err != nil || len(out) != leaves {
			t.Fatal(out, err)
		}
		return out
	}
	for _, c := range []struct {
		run  string
		want runs.Status
	}{{"1", runs.Ran}, {"1", runs.Ran}, {"2", runs.Hit}} {
		for _, x := range batch(c.run) {
			if x.Status != c.want || x.Key.IsZero() {
				t.Errorf("run %s: %+v", c.run, x)
			}
		}
		prepared, err := l.Prepare(ctx, workflows.PrepareRequest{Plan: d, RunID: c.run, Steps: steps})
		errtest.None(t, err)
		for _, p := range prepared {
			if p.Status != c.want || p.Key.IsZero() {
				t.Errorf("run %s: %+v", c.run, p)
			}
		}
	}
	if l.ran.Load() != leaves {
		t.Errorf("%d ran", l.ran.Load())
	}
}
