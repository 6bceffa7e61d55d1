package activities

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// TestCutShort: a step that its worker's end has cut short is not begun by a worker that has no more time, and told
// UNFIT for such after two; a worker with more time, and a kind that continues, begin. What a program leaves whose worker
// was told to end by a batch system is no result.
func TestCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outputs := []step.Output{{Name: "out", Type: "text"}}
		endless := func(ctx context.Context, _ *step.IO, _ struct{}) error {
			<-ctx.Done()
			return ctx.Err()
		}
		a := &Activities{Store: artifacts.Alone(mem.New()), Log: slog.New(slog.DiscardHandler), Env: map[string]string{"host": "h", "job": "slurm 4 on n2"}, Registry: step.NewRegistry(
			step.Define(step.Kind[struct{}]{Name: "endless", Version: 1, Doc: "D.", Outputs: outputs, Run: endless}),
			step.Define(step.Kind[struct{}]{Name: "ends", Version: 1, Doc: "D.", Outputs: outputs, Run: func(_ context.Context, x *step.IO, _ struct{}) error {
				w, err := x.Create("out")
				return errors.Join(err, w.Close())
			}}),
			step.Define(step.Kind[struct{}]{Name: "continues", Version: 1, Doc: "D.", Outputs: outputs, Resumes: true, Run: endless}))}
		a.Leases = lease.New(a.Store.Own.Leases, a.Log)
		try := func(kind string, left time.Duration) (string, runs.Failure) { // on a worker that has so much time
			t.Helper()
			ctx, end := context.WithCancelCause(t.Context())
			defer time.AfterFunc(left, func() { end(ErrEnding) }).Stop()
			a.Fits = func(took time.Duration) bool { return took < left }
			task := step.Task{Kind: kind, Config: []byte("{}")}
			key, _, err := a.Registry.Key(task)
			errtest.None(t, err)
			req := workflows.ExecuteRequest{Key: key, RunID: "run"}
			done, err := a.executeTask(ctx, req, task)
			f, rerr := runs.ReadFailure(t.Context(), a.Store.Own, "run", key)
			errtest.None(t, rerr)
			if done.NotHere != nil {
				return done.NotHere.Why, f
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			return "", f
		}
		for _, c := range []struct {
			left  time.Duration
			says  string
			cut   int
			needs float64
		}{
			{15 * time.Second, "", 1, 15},
			{15*time.Second + 900*time.Millisecond, "needs more than the 15s after which its last worker ended", 1, 15},
			{20 * time.Second, "", 2, 20},
			{15 * time.Second, "UNFIT for workers that end so soon: 2 ended before it did, which had run for 20s", 2, 20},
			{time.Minute, "", 3, 60},
		} {
			why, f := try("endless", c.left)
			if !strings.Contains(why, c.says) || (why == "") != (c.says == "") || f.Cut != c.cut || f.NeedsS != c.needs || f.Host != "h, slurm 4 on n2" {
				t.Errorf("%s: %q, %+v", c.left, why, f)
			}
		}
		for range 2 {
			if why, _ := try("continues", 15*time.Second); why != "" {
				t.Errorf("one that continues: %q", why)
			}
		}
		a.Told, a.Fits = func() bool { return true }, nil
		task := step.Task{Kind: "ends", Config: []byte("{}")}
		key, _, err := a.Registry.Key(task)
		errtest.None(t, err)
		if _, err := a.executeTask(t.Context(), workflows.ExecuteRequest{Key: key, RunID: "run"}, task); err == nil || permanent(err, 1) || !strings.Contains(err.Error(), "what that left does not count") {
			t.Error(err)
		}
		if hit, err := artifacts.Lookup(t.Context(), a.Store, key); hit != nil || err != nil {
			t.Error(hit, err)
		}
		time.Sleep(time.Minute) // until nothing renews leases any more
	})
}
