package activities

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// TestEveryActivityBeats: whatever an activity waits for, it sends heartbeats
// meanwhile, so that a short silence means a lost worker.
func TestEveryActivityBeats(t *testing.T) {
	digest := artifacts.Sum([]byte("x"))
	for name, in := range map[string]any{
		workflows.LoadActivity:    workflows.LoadRequest{Plan: &digest},
		workflows.PrepareActivity: workflows.PrepareRequest{Plan: digest},
		workflows.SplitActivity:   workflows.ExecuteRequest{Task: digest},
		workflows.ExecuteActivity: workflows.ExecuteRequest{Key: digest, Task: digest},
		workflows.JournalActivity: workflows.JournalRequest{Run: runs.Record{RunID: "1"}},
		workflows.CloseActivity:   "1",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				beat := make(chan struct{})
				seen := false
				store := storetest.Hooked(mem.New(), storetest.Before(func(context.Context, *storetest.Call) error {
					<-beat
					return nil
				}))
				a := &Activities{Store: artifacts.Alone(store), Registry: step.NewRegistry(), Log: slog.New(slog.DiscardHandler)}
				var suite testsuite.WorkflowTestSuite
				env := suite.NewTestActivityEnvironment()
				env.SetTestTimeout(time.Minute)
				env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) {
					if !seen {
						seen = true
						close(beat)
					}
				})
				f := a.Named()[name]
				env.RegisterActivity(f)
				_, _ = env.ExecuteActivity(f, in) // what comes of it does not matter: it ended
				if !seen {
					t.Error("it sent no heartbeat")
				}
			})
		})
	}
}

// TestLoadSaysHowFarItIs: hashing a large local source is told with its bytes.
func TestLoadSaysHowFarItIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "source")
	filetest.Write(t, file, make([]byte, 1<<20))
	a := &Activities{Store: artifacts.Alone(mem.New()), Registry: step.NewRegistry(), Log: slog.New(slog.DiscardHandler),
		Accept: []string{filepath.Dir(file)},
		Open: func(ctx context.Context, _ string, _ map[string]string, _ []string) (*plan.Plan, string, error) {
			s, err := lockfile.Open(filepath.Join(filepath.Dir(file), lockfile.Name), "", "")
			if err != nil {
				return nil, "", err
			}
			_, err = s.LocalFile(ctx, file)
			return &plan.Plan{Format: plan.Format}, "", err
		}}
	var last step.Progress
	ctx := step.WithReporter(t.Context(), func(p step.Progress) { last = p })
	errtest.None(t, errtest.Of(a.Load(ctx, workflows.LoadRequest{Pipeline: filepath.Join(filepath.Dir(file), "p.hcl")})))
	if last.Done != 1<<20 || last.Total != 1<<20 || last.Unit != "bytes" {
		t.Errorf("it said %+v", last)
	}
}
