package activities

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// TestTimeIsOfTheWork: a step's time begins when it has the card that it waits for.
func TestTimeIsOfTheWork(t *testing.T) {
	outputs := []step.Output{{Name: "out", Type: "text"}}
	a := &Activities{Store: artifacts.Alone(mem.New()), Log: slog.New(slog.DiscardHandler), Registry: step.NewRegistry(
		step.Define(step.Kind[struct{}]{Name: "computes", Version: 1, Doc: "D.", Outputs: outputs, Needs: step.Libtorch,
			Device: func(struct{}) string { return "cuda:0" }}),
		step.Define(step.Kind[struct{}]{Name: "sleeps", Version: 1, Doc: "D.", Outputs: outputs, Run: func(ctx context.Context, _ *step.IO, _ struct{}) error {
			<-ctx.Done()
			return ctx.Err()
		}}))}
	of := admitted{asks: step.Resources{Time: time.Second}}
	run := func(ctx context.Context, kind string) error {
		_, err := a.run(ctx, workflows.ExecuteRequest{}, a.Registry.Lookup(kind), step.Task{Kind: kind, Config: []byte("{}")}, nil, of, &stepLog{}, false)
		return err
	}
	synctest.Test(t, func(t *testing.T) {
		a.Room = capacity.NewPool(capacity.Amount{}, capacity.Cards{})
		_, give, err := a.Room.Take(t.Context(), capacity.Want{Many: 1, Of: []int{0}}, nil)
		testkit.None(t, err)
		time.AfterFunc(time.Hour, give)
		if err := run(t.Context(), "computes"); !errors.Is(err, os.ErrNotExist) { // of the program that would compute it
			t.Errorf("it waited for its card: %v", err)
		}
		if err := run(t.Context(), "sleeps"); !is[overTime](err) || !step.IsPermanent(err) {
			t.Errorf("it took too long: %v", err)
		}
	})
}

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
			testkit.None(t, err)
			req := workflows.ExecuteRequest{Key: key, RunID: "run"}
			done, err := a.executeTask(ctx, req, task)
			f, rerr := runs.ReadFailure(t.Context(), a.Store.Own, "run", key)
			testkit.None(t, rerr)
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
		testkit.None(t, err)
		if _, err := a.executeTask(t.Context(), workflows.ExecuteRequest{Key: key, RunID: "run"}, task); err == nil || permanent(err, 1) || !strings.Contains(err.Error(), "what that left does not count") {
			t.Error(err)
		}
		if hit, err := artifacts.Lookup(t.Context(), a.Store, key); hit != nil || err != nil {
			t.Error(hit, err)
		}
		time.Sleep(time.Minute) // until nothing renews leases any more
	})
}

// TestDied: a step that its process did not survive is tried again in a new one, also where
// its worker is ending, until it has cost too many; what was cancelled is cancelled.
func TestDied(t *testing.T) {
	bad := step.Permanent(step.Poisoned(errors.New("the card is gone")))
	for _, c := range []struct {
		err  error
		kind string
		says string
	}{
		{bad, workflows.TransientError, "in a new process"},
		{&deadly{bad, deadliest}, workflows.PermanentError, "3 processes died of it"},
	} {
		var app *temporal.ApplicationError
		if got := new(Activities).failure(t.Context(), c.err); !errors.As(got, &app) || app.Type() != c.kind || !strings.Contains(app.Message(), "the card is gone") || !strings.Contains(app.Message(), c.says) {
			t.Errorf("%v", got)
		}
		testkit.Is(t, permanent(c.err, 1), c.kind == workflows.PermanentError, "recorded as permanent")
	}
	var app *temporal.ApplicationError
	ending, end := context.WithCancelCause(t.Context())
	end(errors.New("the worker is ending"))
	if err := new(Activities).failure(ending, bad); !errors.As(err, &app) || app.Type() != workflows.TransientError || !strings.Contains(app.Message(), "the card is gone") {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	testkit.ErrIs(t, new(Activities).failure(cancelled, bad), context.Canceled)
}

// TestWithoutSecond: a worker without the second program, or the time, leaves to others what needs
// it, which is no error, and does all else; where nobody else is, the step says what to do and is not
// remembered as one that fails.
func TestWithoutSecond(t *testing.T) {
	outputs := []step.Output{{Name: "out", Type: "text"}}
	run := func(_ context.Context, x *step.IO, _ struct{}) error {
		w, err := x.Create("out")
		if err != nil {
			return err
		}
		return w.Close()
	}
	a := &Activities{Store: artifacts.Alone(mem.New()), Log: slog.New(slog.DiscardHandler), Lacks: errors.New("redsi-models is not there"), Registry: step.NewRegistry(
		step.Define(step.Kind[struct{}]{Name: "computes", Version: 1, Doc: "D.", Outputs: outputs, Needs: step.Libtorch}),
		step.Define(step.Kind[struct{}]{Name: "reads", Version: 1, Doc: "D.", Outputs: outputs, Run: run}))}
	computes := step.Task{Kind: "computes", Config: []byte("{}")}
	var app *temporal.ApplicationError
	a.Leases = lease.New(a.Store.Own.Leases, a.Log)
	reads := step.Task{Kind: "reads", Config: []byte("{}")}
	left := func(req workflows.ExecuteRequest, task step.Task, why string) {
		t.Helper()
		var err error
		if req.Key, _, err = a.Registry.Key(task); err != nil {
			t.Fatal(err)
		}
		done, err := a.executeTask(t.Context(), req, task)
		if err != nil || (done.NotHere == nil) != (why == "") || done.NotHere != nil && !strings.Contains(done.NotHere.Why, why) {
			t.Errorf("%s: left for %+v, %v; want %q", task.Kind, done.NotHere, err, why)
		}
	}
	left(workflows.ExecuteRequest{}, computes, "redsi-models is not there")
	left(workflows.ExecuteRequest{}, reads, "")
	a.Fits = func(took time.Duration) bool { return took < time.Hour }
	day := 86400.0
	left(workflows.ExecuteRequest{TookS: &day}, reads, "it took 24h0m0s, which is longer than this worker has left")
	a.Lacks = nil
	left(workflows.ExecuteRequest{}, computes, "make build") // found out only when it is needed
	_, err := a.run(t.Context(), workflows.ExecuteRequest{}, a.Registry.Lookup("computes"), computes, nil, admitted{}, &stepLog{}, false)
	if err == nil || !strings.Contains(err.Error(), "make build") || permanent(err, 1) {
		t.Fatal(err)
	}
	if err := a.failure(t.Context(), err); !errors.As(err, &app) || app.Type() != workflows.PermanentError {
		t.Error(err)
	}
}

type usedConfig struct {
	Bytes int `hcl:"bytes" help:"h"`
}

// TestUsedOfParts: the result of a step tells what it and its parts used, as their own
// results do.
func TestUsedOfParts(t *testing.T) {
	cpu := time.Duration(0)
	part := step.DefinePart(step.Kind[usedConfig]{Name: "piece", Version: 1, Doc: "D.", Outputs: []step.Output{{Name: "out", Type: "text"}},
		Run: func(_ context.Context, x *step.IO, c usedConfig) error {
			cpu += time.Second
			w, err := x.Create("out")
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%0*d", c.Bytes, 0); err != nil {
				return err
			}
			return w.Close()
		}})
	whole := step.Define(step.Kind[usedConfig]{Name: "whole", Version: 1, Doc: "D.", Outputs: []step.Output{{Name: "out", Type: "text"}}, Parts: []step.Spec{part.Spec},
		Split: func(_ context.Context, _ *step.IO, c usedConfig) (tasks []step.Task, err error) {
			for i := range 2 {
				task, err := part.Task(usedConfig{Bytes: c.Bytes + i})
				if err != nil {
					return nil, err
				}
				tasks = append(tasks, task)
			}
			return tasks, nil
		},
		Run: func(_ context.Context, x *step.IO, _ usedConfig) error {
			cpu += 5 * time.Second
			for _, p := range x.Parts() {
				a := p.Outputs["out"]
				r, err := x.Open(step.Input{Artifact: &a})
				if err != nil {
					return err
				}
				if _, err := io.Copy(io.Discard, r); err != nil {
					return err
				}
				if err := r.Close(); err != nil {
					return err
				}
			}
			return x.Link("out", x.Parts()[0].Outputs["out"])
		}})
	a := &Activities{Store: artifacts.Alone(mem.New()), Registry: step.NewRegistry(whole), Log: slog.New(slog.DiscardHandler),
		Usage: usage.New(usage.Machine{CPU: func() (time.Duration, bool) { return cpu, true }})}
	task := step.Task{Kind: "whole", Config: []byte(`{"bytes":10}`)}
	key, _, err := a.Registry.Key(task)
	testkit.None(t, err)
	made, err := a.Rebuild(t.Context(), "step.whole.x", key, task, RebuildOptions{})
	testkit.None(t, err)
	want := artifacts.Used{CPU: 7, CPUOf: artifacts.CPUOfStep, Read: 21, Written: 21}
	if got := made.Made.Used; got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	stored, err := artifacts.Lookup(t.Context(), a.Store, key)
	testkit.That(t, err == nil && stored != nil && stored.Used != nil && *stored.Used == want, "stored", stored, err)
}

// TestStepLog says what is kept of what a step says, however it is written.
func TestStepLog(t *testing.T) {
	const much = runs.LogHead + 3*runs.LogTail
	text := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + i*7/5%26)
		}
		return b
	}
	for _, c := range []struct {
		name    string
		n, each int
		cut     int64
	}{
		{"nothing", 0, 1, 0},
		{"little", 100, 7, 0},
		{"the head", runs.LogHead, 1000, 0},
		{"all", runs.LogHead + runs.LogTail, 4096, 0},
		{"half of what is shown", runs.LogHead + LiveTail/2, 999, 0},
		{"one more", runs.LogHead + runs.LogTail + 1, 4096, 1},
		{"much", much, 1001, 2 * runs.LogTail},
		{"much at once", much, much, 2 * runs.LogTail},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &stepLog{}
			said := text(c.n)
			for b := said; len(b) > 0; b = b[min(c.each, len(b)):] {
				if n, err := l.Write(b[:min(c.each, len(b))]); n != min(c.each, len(b)) || err != nil {
					t.Fatal(n, err)
				}
			}
			got, err := io.ReadAll(l.read())
			testkit.None(t, err)
			head, tail := said[:min(c.n, runs.LogHead)], said[min(c.n, runs.LogHead):]
			if c.cut > 0 {
				tail = tail[len(tail)-runs.LogTail:]
			}
			if l.cut != c.cut || !bytes.HasPrefix(got, head) || !bytes.HasSuffix(got, tail) {
				t.Errorf("%d bytes of %d, %d cut", len(got), c.n, l.cut)
			}
			if c.cut == 0 && !bytes.Equal(got, said) {
				t.Error("not what was said")
			}
			if total, end := l.end(LiveTail); total != int64(c.n) || !bytes.Equal(end, said[max(0, c.n-LiveTail):]) {
				t.Errorf("of %d bytes: %d, the last %d", c.n, total, len(end))
			}
			kept := l.keep(t.Context(), &Activities{Store: artifacts.Alone(mem.New())}, "step.a.b")
			testkit.That(t, kept.Size == int64(len(got)) && kept.Validate() == nil, kept, "of", len(got), "bytes")
		})
	}
}

// TestStepLogger says that log lines are kept and passed on, what is for debugging not.
func TestStepLogger(t *testing.T) {
	var shown strings.Builder
	l := &stepLog{}
	log := l.logger(slog.New(slog.NewTextHandler(&shown, &slog.HandlerOptions{Level: slog.LevelWarn})))
	log.Debug("detail")
	log.Info("read", "records", 3)
	log.Warn("odd")
	kept := string(l.head)
	if strings.Contains(kept, "detail") || !strings.Contains(kept, "msg=read records=3") || !strings.Contains(kept, "msg=odd") {
		t.Errorf("kept %q", kept)
	}
	if strings.Contains(shown.String(), "read") || !strings.Contains(shown.String(), "odd") {
		t.Errorf("shown %q", shown.String())
	}
	var none *artifacts.Log
	testkit.None(t, none.Validate())
}

// TestShowLive: a running step shows what is new at each tick, and leaves nothing behind; one that says
// nothing, or ends before the first tick, writes nothing.
func TestShowLive(t *testing.T) {
	a := &Activities{Store: artifacts.Alone(mem.New()), Log: slog.New(slog.DiscardHandler)}
	key := artifacts.Sum([]byte("key"))
	read := func() *runs.LiveLog {
		t.Helper()
		l, err := runs.ReadLive(t.Context(), a.Store.Own.Leases, key)
		testkit.None(t, err)
		return l
	}
	var log stepLog
	ticks := make(chan time.Time)
	stop := a.showLive(t.Context(), key, &log, ticks)
	tick := func() { ticks <- time.Time{}; ticks <- time.Time{} } // the second is taken when the first is done
	tick()
	if l := read(); l != nil {
		t.Errorf("nothing was said, and shown is %+v", l)
	}
	log.Write([]byte("one\n"))
	tick()
	log.Write([]byte(strings.Repeat("x", LiveTail) + "two\n"))
	tick()
	if l := read(); l == nil || l.Said != LiveTail+8 || len(l.Text) != LiveTail || !bytes.HasSuffix(l.Text, []byte("xtwo\n")) {
		t.Errorf("shown %+v", l)
	}
	stop()
	if l := read(); l != nil {
		t.Errorf("left behind: %+v", l)
	}
}

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
	testkit.Write(t, file, make([]byte, 1<<20))
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
	testkit.None(t, testkit.Err(a.Load(ctx, workflows.LoadRequest{Pipeline: filepath.Join(filepath.Dir(file), "p.hcl")})))
	testkit.That(t, last.Done == 1<<20 && last.Total == 1<<20 && last.Unit == "bytes", "it said", last)
}
