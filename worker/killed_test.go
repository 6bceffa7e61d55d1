package worker_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

// With these variables TestHeldWorker is a worker of a queue, with the server and the
// store of two folders, that never ends an activity of a kind.
const (
	heldQueue  = "REDSI_TEST_QUEUE"
	heldServer = "REDSI_TEST_SERVER"
	heldStore  = "REDSI_TEST_STORE"
	heldKind   = "REDSI_TEST_ACTIVITY"
)

// held says so and waits for ever where an activity of a kind looks a record up.
func held(kind string) storetest.Hook {
	return storetest.Before(func(ctx context.Context, c *storetest.Call) error {
		if c.Method == storetest.RecordsGet && activity.IsActivity(ctx) && activity.GetInfo(ctx).ActivityType.Name == kind {
			fmt.Println("holding")
			select {}
		}
		return nil
	})
}

// clientOptions is how the tests' server is called, by this process or a held worker.
func clientOptions() (client.Options, error) {
	folder := os.Getenv(heldServer)
	if folder == "" {
		return server.ClientOptions()
	}
	info, ok := devserver.Running(folder)
	if !ok {
		return client.Options{}, fmt.Errorf("no server answers in %s", folder)
	}
	return devserver.LookOptions(folder, info)
}

// TestHeldWorker is a process of TestKilledWorker and nothing by itself.
func TestHeldWorker(t *testing.T) {
	queue := os.Getenv(heldQueue)
	if queue == "" {
		return
	}
	b := idleBench(t, 1)
	var err error
	if b.store, err = dir.Open(os.Getenv(heldStore)); err != nil {
		t.Fatal(err)
	}
	b.store = storetest.Hooked(b.store, held(os.Getenv(heldKind)))
	errtest.None(t, worker.New(b.c, b.activities(), worker.Options{Queues: []string{queue}, CPU: 1}).Start())
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed, or the other process is
}

// TestKilledWorker kills a worker's process within an activity that looks up: its
// attempt is missed by its heartbeats, and the run ends well with another worker.
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{workflows.LoadActivity, workflows.PrepareActivity} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := idleBench(t, 1)
			folder := t.TempDir()
			var err error
			if b.store, err = dir.Open(folder); err != nil {
				t.Fatal(err)
			}
			held := exec.Command(os.Args[0], "-test.run", "^TestHeldWorker$")
			held.Env = append(os.Environ(), heldQueue+"="+t.Name(), heldServer+"="+filepath.Dir(server.Profile()),
				heldStore+"="+folder, heldKind+"="+kind, "TMPDIR="+t.TempDir())
			held.Stderr = os.Stderr
			errtest.None(t, errtest.Of(held.StdinPipe()))
			said, err := held.StdoutPipe()
			errtest.None(t, err)
			errtest.None(t, held.Start())
			t.Cleanup(func() { _ = held.Process.Kill(); _ = held.Wait() })
			w := b.start(`step "text" "a" { text = "killed `+kind+`" }`, "1")
			if lines := bufio.NewScanner(said); !lines.Scan() || lines.Text() != "holding" {
				t.Fatalf("the worker says %q, %v", lines.Text(), lines.Err())
			}
			errtest.None(t, held.Process.Kill())
			b.startWorker()
			b.ends(w, 1)
			scheduled, started := b.attempts(w, kind)
			if started.Attempt < 2 || started.LastFailure.GetTimeoutFailureInfo().GetTimeoutType() != enums.TIMEOUT_TYPE_HEARTBEAT {
				t.Errorf("attempt %d, after %v; want one after a missed heartbeat", started.Attempt, started.LastFailure)
			}
			if lost := scheduled.HeartbeatTimeout.AsDuration() + scheduled.RetryPolicy.InitialInterval.AsDuration(); lost > 20*time.Second {
				t.Errorf("a lost attempt costs %s", lost)
			}
		})
	}
}

// attempts is what a workflow's history says of its first activity of a kind.
func (b *bench) attempts(w client.WorkflowRun, kind string) (s *history.ActivityTaskScheduledEventAttributes, started *history.ActivityTaskStartedEventAttributes) {
	b.t.Helper()
	var id int64
	events := b.c.GetWorkflowHistory(context.Background(), w.GetID(), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		errtest.None(b.t, err)
		if a := e.GetActivityTaskScheduledEventAttributes(); s == nil && a != nil && a.ActivityType.Name == kind {
			s, id = a, e.EventId
		}
		if a := e.GetActivityTaskStartedEventAttributes(); a != nil && a.ScheduledEventId == id {
			return s, a
		}
	}
	b.t.Fatalf("%s was not started", kind)
	return nil, nil
}

// TestHandBack: what a worker that stops was doing goes to another one at once, and is
// not missed by its heartbeats.
func TestHandBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.start(`
step "text" "long" {
  text = "handed back"
  hold = true
}`, "1")
	b.says("handed back")
	b.queue.Stop()
	b.says("cancelled handed back")
	b.startWorker()
	b.says("handed back")
	close(b.hold)
	b.ends(w, 1)
	_, started := b.attempts(w, workflows.DoActivity)
	if started.Attempt != 2 || started.LastFailure.GetMessage() != "interrupted: the worker is ending" {
		t.Errorf("attempt %d, after %v", started.Attempt, started.LastFailure)
	}
}
