package activities

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts/mem"
	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// TestPoisoned: a step that leaves processes unable to go on is left to others twice, also
// where its worker is ending already; what was cancelled is cancelled.
func TestPoisoned(t *testing.T) {
	bad := step.Permanent(step.Poisoned(errors.New("the card is gone")))
	for _, c := range []struct {
		attempt int32
		kind    string
	}{{1, workflows.TransientError}, {poisonTries - 1, workflows.TransientError}, {poisonTries, workflows.PermanentError}} {
		var app *temporal.ApplicationError
		if got := poisoned(c.attempt, bad); !errors.As(got, &app) || app.Type() != c.kind || !strings.Contains(app.Message(), "the card is gone") {
			t.Errorf("attempt %d: %v", c.attempt, got)
		} else if c.kind == workflows.TransientError && app.NextRetryDelay() != poisonPause {
			t.Errorf("again after %s", app.NextRetryDelay())
		}
		if permanent(bad, c.attempt) != (c.kind == workflows.PermanentError) {
			t.Errorf("attempt %d: recorded as permanent: %v", c.attempt, permanent(bad, c.attempt))
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

// TestBreaks: the first error that a process cannot go on from is told, also of an
// operation that panicked; from then on the process computes nothing, but does all else.
func TestBreaks(t *testing.T) {
	outputs := []step.Output{{Name: "out", Type: "text"}}
	run := func(context.Context, *step.IO, struct{}) error {
		panic(&tensor.Error{Op: "matmul", Message: "CUDA error: device-side assert triggered"})
	}
	kind := func(name, needs string) step.Spec {
		return step.Define(step.Kind[struct{}]{Name: name, Version: 1, Doc: "D.", Outputs: outputs, Needs: needs, Run: run})
	}
	var told []error
	a := &Activities{Store: mem.New(), Registry: step.NewRegistry(kind("computes", "libtorch"), kind("reads", "")), Log: slog.New(slog.DiscardHandler),
		Broken: func(err error) { told = append(told, err) }}
	for range 2 {
		task := step.Task{Kind: "computes", Config: []byte("{}")}
		_, err := a.run(t.Context(), workflows.ExecuteRequest{}, a.Registry.Lookup("computes"), task, nil, &stepLog{}, false)
		if !step.IsPoisoned(err) || !strings.Contains(err.Error(), "device-side assert") {
			t.Fatal(err)
		}
	}
	if len(told) != 1 || !step.IsPoisoned(told[0]) {
		t.Errorf("told %v", told)
	}
	var app *temporal.ApplicationError
	if err := a.isWhole(workflows.ExecuteRequest{Address: "step.computes.x"}, step.Task{Kind: "computes"}); !errors.As(err, &app) || app.Type() != workflows.TransientError {
		t.Error(err)
	}
	if err := a.isWhole(workflows.ExecuteRequest{}, step.Task{Kind: "reads"}); err != nil {
		t.Error(err)
	}
	if err := new(Activities).isWhole(workflows.ExecuteRequest{}, step.Task{Kind: "computes"}); err != nil {
		t.Error(err)
	}
}
