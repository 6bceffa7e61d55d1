package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// TestFailure says which errors are worth a retry. A program does not run again
// for one that a retry cannot fix, and its text says what to do.
func TestFailure(t *testing.T) {
	path := func(err error) error {
		return fmt.Errorf("store a blob: %w", &fs.PathError{Op: "write", Path: "/x", Err: err})
	}
	nul := exec.Command("/bin/echo", "a\x00b").Start()
	for _, c := range []struct {
		name string
		err  error
		kind string
		says string
	}{
		{"disk full", path(syscall.ENOSPC), workflows.PermanentError, "free space"},
		{"quota", path(syscall.EDQUOT), workflows.PermanentError, "raise the quota there"},
		{"file too large", path(syscall.EFBIG), workflows.PermanentError, "ulimit -f"},
		{"no locks", path(syscall.ENOSYS), workflows.PermanentError, "cannot do that"},
		{"no lock service", path(syscall.ENOLCK), workflows.PermanentError, "cannot do that"},
		{"read-only", path(syscall.EROFS), workflows.PermanentError, "read-only"},
		{"not allowed", path(syscall.EACCES), workflows.PermanentError, "the right"},
		{"NUL in argv", fmt.Errorf("start echo: %w", nul), workflows.PermanentError, "NUL"},
		{"long argv", fmt.Errorf("start echo: %w", syscall.E2BIG), workflows.PermanentError, "in files"},
		{"large record", artifacts.CheckRecord("runs/1", make([]byte, artifacts.MaxRecord+1)), workflows.PermanentError, "a retry cannot fix"},
		{"crash", &command.ExitError{Argv: []string{"p"}, Code: -1, Signal: syscall.SIGSEGV}, workflows.PermanentError, "would do so again"},
		{"killed", &command.ExitError{Argv: []string{"p"}, Code: -1, Signal: syscall.SIGKILL}, workflows.TransientError, ""},
		{"marked", step.Permanent(errors.New("line 7")), workflows.PermanentError, "line 7"},
		{"lost", fmt.Errorf("input: %w", artifacts.ErrNotExist), workflows.InputLostError, ""},
		{"another store is down", fmt.Errorf("input: %w", &artifacts.DownError{Name: "a.example", What: "blob x", Err: syscall.ECONNREFUSED}), workflows.TransientError, "a.example does not answer"},
		{"network", path(syscall.ECONNRESET), workflows.TransientError, ""},
		{"not UTF-8", errors.New("7z\xbc\xaf\x27\x1c"), workflows.TransientError, "7z\uFFFD"},
		{"endless", errors.New("first " + strings.Repeat("é", 1<<20) + " last"), workflows.TransientError, " last"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var app *temporal.ApplicationError
			if err := new(Activities).failure(t.Context(), c.err); !errors.As(err, &app) {
				t.Fatalf("%v has no type", err)
			}
			if app.Type() != c.kind || app.NonRetryable() != (c.kind != workflows.TransientError) || !strings.Contains(app.Message(), c.says) {
				t.Errorf("type %s, retried %v: %.300s", app.Type(), !app.NonRetryable(), app.Message())
			}
			if !utf8.ValidString(app.Message()) || len(app.Message()) > maxError {
				t.Errorf("the server does not take this text of %d bytes", len(app.Message()))
			}
		})
	}
}

// TestPause: errors are tried again after growing times, which they carry with them:
// the policy's own are for workers that were lost, and do not grow.
func TestPause(t *testing.T) {
	for attempt, want := range map[int32]time.Duration{1: time.Second, 2: 2 * time.Second, 4: 8 * time.Second, 5: 15 * time.Second, 49: 15 * time.Second} {
		testkit.Is(t, pause(attempt), want, "after attempt", attempt)
	}
	var env testsuite.WorkflowTestSuite
	activities := env.NewTestActivityEnvironment()
	fails := func(ctx context.Context) error { return new(Activities).failure(ctx, syscall.ECONNRESET) }
	activities.RegisterActivity(fails)
	_, err := activities.ExecuteActivity(fails)
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.NextRetryDelay() != time.Second {
		t.Errorf("%v is retried after %v", err, app.NextRetryDelay())
	}
}

// TestLostAttempts: those that a sleeping laptop costs are no errors of the activity, which is
// tried as often as ever after them; errors add up, however many lost ones are between them.
func TestLostAttempts(t *testing.T) {
	const lost = 3 // before each error
	for errs, want := range map[int32]string{errorTries - 1: "", errorTries: "tried 10 times"} {
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestWorkflowEnvironment()
		env.SetTestTimeout(time.Minute)
		a := &Activities{}
		work := func(ctx context.Context) error {
			if activity.GetInfo(ctx).Attempt%(lost+1) != 0 {
				return temporal.NewHeartbeatTimeoutError() // as the server has it
			}
			_, err := attempt(ctx, a, func(context.Context) (struct{}, error) {
				if activity.GetInfo(ctx).Attempt > errs*(lost+1) {
					return struct{}{}, nil
				}
				return struct{}{}, syscall.ECONNRESET
			})
			return err
		}
		env.RegisterActivityWithOptions(work, activity.RegisterOptions{Name: "work"})
		env.ExecuteWorkflow(func(ctx workflow.Context) error {
			ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Hour, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 200}})
			return workflow.ExecuteActivity(ctx, "work").Get(ctx, nil)
		})
		if err := env.GetWorkflowError(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d errors with %d lost attempts before each: %v", errs, lost, err)
		}
	}
}

func TestFailureOfWhatWasCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testkit.Is(t, new(Activities).failure(ctx, syscall.ENOSPC), context.Canceled)
	ctx, lose := context.WithCancelCause(t.Context())
	lose(errors.New("deadline of a heartbeat"))
	var app *temporal.ApplicationError
	if err := new(Activities).failure(ctx, syscall.ENOSPC); !errors.As(err, &app) || app.NonRetryable() {
		t.Errorf("an attempt whose worker lost the server is retried: %v", err)
	}
}

func TestBounded(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("é", 500), strings.Repeat("\xff", 500), strings.Repeat("x", 300)} {
		for most := 20; most < 40; most++ {
			if b := bounded(text, most); len(b) > most || !utf8.ValidString(b) {
				t.Errorf("bounded(%.10q…, %d) is %q", text, most, b)
			}
		}
	}
}

// TestMisread tells bytes that were changed on the way, which a retry mends, from
// a blob that is wrong, whose producer has to run again.
func TestMisread(t *testing.T) {
	store := mem.New()
	whole := storetest.Put(t, store, []byte("plan"))
	a := &Activities{Log: slog.New(slog.DiscardHandler), Store: artifacts.Alone(store)}
	for digest, want := range map[artifacts.Digest]string{
		whole:                          workflows.TransientError,
		artifacts.Sum([]byte("other")): workflows.InputLostError,
	} {
		var app *temporal.ApplicationError
		err := a.failure(t.Context(), fmt.Errorf("plan: %w", &artifacts.IntegrityError{Want: digest, Got: artifacts.Sum(nil)}))
		testkit.That(t, errors.As(err, &app) && app.Type() == want, err, "want one of type", want)
	}
}

// TestCorruptGoes: a blob that is wrong in the store goes, whatever else its error says, so that its producer runs
// again in a later run at least.
func TestCorruptGoes(t *testing.T) {
	for want, as := range map[string]func(error) error{
		workflows.InputLostError: func(err error) error { return fmt.Errorf("input: %w", err) },
		workflows.PermanentError: step.Permanent,
	} {
		store, faults := storetest.Faulty(mem.New())
		d := storetest.Put(t, store, []byte("one"))
		faults.Add(storetest.BlobsOpen, slices.Repeat([]storetest.Fault{{Flip: true}}, 40)...)
		_, err := artifacts.ReadBlob(t.Context(), store.Blobs, d, artifacts.AnySize)
		a := &Activities{Log: slog.New(slog.DiscardHandler), Store: artifacts.Alone(store)}
		var app *temporal.ApplicationError
		if err := a.failure(t.Context(), as(err)); !errors.As(err, &app) || app.Type() != want {
			t.Errorf("%v, want one of type %s", err, want)
		}
		if missing, err := store.Blobs.Missing(t.Context(), []artifacts.Digest{d}); err != nil || len(missing) == 0 {
			t.Errorf("%s: it is still there: %v", want, err)
		}
	}
}

// A worker whose store has not the run's plan says so by a kind and fields: most likely
// it has another store than the client.
func TestPlanLost(t *testing.T) {
	a := &Activities{Log: slog.New(slog.DiscardHandler), Store: artifacts.Alone(mem.New())}
	a.Store.Own.URL = "/worker"
	plan := artifacts.Sum([]byte("plan"))
	_, err := a.storedPlan(t.Context(), plan)
	got := workflows.ErrorOf(a.failure(t.Context(), err))
	if want := (&workflows.PlanLost{Plan: plan, Store: "/worker"}); got == nil || got.Type != workflows.PlanLostError || got.PlanLost == nil || *got.PlanLost != *want {
		t.Errorf("got %+v", got)
	}
}

func TestPermanent(t *testing.T) {
	for _, c := range []struct {
		err     error
		attempt int32
		want    bool
	}{
		{errors.New("x"), 1, false},
		{errors.New("x"), errorTries, true},
		{step.Permanent(errors.New("x")), 1, true},
		{fmt.Errorf("write: %w", syscall.ENOSPC), 1, true},
		{&step.SourceChangedError{Path: "/x", Err: step.Permanent(errors.New("x"))}, errorTries, false},
		{fmt.Errorf("input: %w", artifacts.ErrNotExist), errorTries, false},
	} {
		testkit.Is(t, permanent(c.err, c.attempt), c.want, c.err, c.attempt)
	}
}

// TestFailureOfOthers: a blob that only another store has, with other bytes, is lost, so
// that its producer runs here.
func TestFailureOfOthers(t *testing.T) {
	theirs, faults := storetest.Faulty(mem.New())
	d := storetest.Put(t, theirs, []byte("one"))
	faults.Add(storetest.BlobsOpen, storetest.Fault{Flip: true}, storetest.Fault{Flip: true})
	a := &Activities{Log: slog.New(slog.DiscardHandler), Store: artifacts.With(mem.New(), []artifacts.Other{{Reader: theirs.Reader(), Name: "a.example"}}, artifacts.Policy{})}
	_, err := a.Store.Open(t.Context(), d)
	var app *temporal.ApplicationError
	if err := a.failure(t.Context(), fmt.Errorf("input: %w", err)); !errors.As(err, &app) || app.Type() != workflows.InputLostError || !strings.Contains(err.Error(), "a.example") {
		t.Errorf("%v", err)
	}
}

// TestFailureInOutage: a failure that nothing says later is recorded with its log when the store
// is back; one of an attempt that another follows, or that was cancelled, does not wait for that.
func TestFailureInOutage(t *testing.T) {
	for _, c := range []struct {
		name      string
		err       error
		cancelled bool
		recorded  bool
	}{
		{"for good", step.Permanent(errors.New("bad")), false, true},
		{"a try of its program", &failedTry{errors.New("exit status 1"), 1}, false, true},
		{"an attempt", errors.New("503"), false, false},
		{"cancelled", errors.New("killed"), true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				back := time.Now().Add(20 * time.Second)
				store := mem.New()
				a := &Activities{Log: slog.New(slog.DiscardHandler), Store: artifacts.Alone(storetest.Hooked(store, func(_ context.Context, _ *storetest.Call, next func() error) error {
					if time.Now().Before(back) {
						return errAway
					}
					return next()
				}))}
				log := &stepLog{}
				fmt.Fprint(log, "said")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancelled {
					cancel()
				}
				a.keepFailure(ctx, workflows.ExecuteRequest{RunID: "r"}, admitted{}, 0, log, c.err)
				if d := time.Until(back); d > 0 == c.recorded || d < -failureTime {
					t.Errorf("it ends %s before the store is back", d)
				}
				n := 0
				if err := runs.Failures(t.Context(), store, "r", func(f runs.Failure) bool { n++; return f.Log != nil && f.Log.Size == 4 }); err != nil || n == 1 != c.recorded {
					t.Errorf("%d records, %v", n, err)
				}
			})
		})
	}
}
