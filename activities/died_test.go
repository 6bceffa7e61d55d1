package activities

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

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
		if permanent(c.err, 1) != (c.kind == workflows.PermanentError) {
			t.Errorf("recorded as permanent: %v", permanent(c.err, 1))
		}
	}
	var app *temporal.ApplicationError
	ending, end := context.WithCancelCause(t.Context())
	end(errors.New("the worker is ending"))
	if err := new(Activities).failure(ending, bad); !errors.As(err, &app) || app.Type() != workflows.TransientError || !strings.Contains(app.Message(), "the card is gone") {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := new(Activities).failure(cancelled, bad); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
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
