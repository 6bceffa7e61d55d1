package activities

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/artifacts/mem"
	"github.com/redsi/redsi/internal/device"
	"github.com/redsi/redsi/step"
)

// TestTook: what a step that is run again took is its work, without the wait for a card.
func TestTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := device.NewPool(device.PoolOptions{})
		take := func(ctx context.Context) error {
			_, _, err := device.Choose(ctx, "cuda", 1, func() string { return "" })
			return err
		}
		kind := step.Define(step.Kind[struct{}]{Name: "computes", Version: 1, Doc: "D.", Outputs: []step.Output{{Name: "out", Type: "text"}},
			Run: func(ctx context.Context, x *step.IO, _ struct{}) error {
				if err := take(ctx); err != nil {
					return err
				}
				time.Sleep(2 * time.Second)
				w, err := x.Create("out")
				if err != nil {
					return err
				}
				return w.Close()
			}})
		a := &Activities{Store: mem.New(), Registry: step.NewRegistry(kind), Log: slog.New(slog.DiscardHandler), Cards: pool}
		other := pool.Turn(nil)
		if err := take(device.With(t.Context(), other)); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Hour, other.End)
		task := step.Task{Kind: "computes", Config: []byte("{}")}
		key, _, err := a.Registry.Key(task)
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Rebuild(t.Context(), "step.computes.x", key, task, RebuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Made.Took != 2*time.Second {
			t.Errorf("it took %s", r.Made.Took)
		}
	})
}
