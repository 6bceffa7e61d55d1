package activities

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// TestBatchOnSlowStore: a batch gets on, however long it takes to learn what there is to do.
func TestBatchOnSlowStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLargeRun(t)
		d := l.wide(2)
		l.Store = artifacts.Alone(storetest.Hooked(l.Store.Own, func(_ context.Context, c *storetest.Call, next func() error) error {
			if c.Method == storetest.RecordsGet {
				time.Sleep(2 * workflows.BatchTime)
			}
			return next()
		}))
		out, err := l.Do(t.Context(), workflows.DoRequest{Plan: d, RunID: "1", Steps: []workflows.Ready{{Index: 0}, {Index: 1}}})
		if err != nil || out[0].Status != runs.Ran || out[1].Status != runs.Waiting {
			t.Errorf("%+v, %v", out, err)
		}
		time.Sleep(time.Minute) // until no lease is renewed
	})
}

// TestPanicInABatch: a kind that panics fails its step, and the worker lives.
func TestPanicInABatch(t *testing.T) {
	l := newLargeRun(t)
	spec := step.Define(step.Kind[leafConfig]{Name: "leaf", Version: 1, Doc: "Text.", Inline: true, Outputs: l.leaf.Outputs, Run: func(_ context.Context, x *step.IO, _ leafConfig) error {
		w, err := x.Create("out")
		return errors.Join(err, w.Close())
	}, Pins: func(leafConfig, map[string]artifacts.Artifact) []step.Pin { panic("on purpose") }})
	l.Registry = step.NewRegistry(spec)
	if _, _, err := l.run("1", l.wide(1)); err == nil || !strings.Contains(err.Error(), "a bug in redsi: on purpose") {
		t.Error(err)
	}
}
