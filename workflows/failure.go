package workflows

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
)

// Errors cross Temporal as application errors: the type is the kind of error, the detail
// has its fields, and the message is only for people. ErrorOf is the one place that
// turns them back into Go errors.

// PlanLost is the detail of a PlanLostError: which plan a worker's store lacks.
type PlanLost struct {
	Plan  artifacts.Digest `json:"plan"`
	Store string           `json:"store"` // the worker's
}

// A RunError is how a run ended that did not do all of its steps.
type RunError struct {
	Type   string          // PermanentError and the like; FailedRun
	Text   string          // for people
	Result ReproduceResult // of a FailedRun; without a RunID if the run ended before its steps

	PlanLost *PlanLost // of a PlanLostError
}

func (e *RunError) Error() string { return e.Text }

// ErrorOf is the application error inside err, nil if there is none. Details that are
// not there, or not readable, are left out: another version of redsi wrote them.
func ErrorOf(err error) *RunError {
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok {
		return nil
	}
	e := &RunError{Type: app.Type(), Text: app.Message()}
	switch {
	case !app.HasDetails():
	case e.Type == PlanLostError:
		var d PlanLost
		if app.Details(&d) == nil {
			e.PlanLost = &d
		}
	case e.Type == FailedRun:
		if app.Details(&e.Result) != nil {
			e.Result = ReproduceResult{}
		}
	}
	return e
}

// ended is an error of a run that the server does not retry, with the type and fields of
// the error in it.
func ended(err error) error {
	kind, details := PermanentError, []any(nil)
	if e := ErrorOf(err); e != nil {
		if e.Type != "" {
			kind = e.Type
		}
		if e.PlanLost != nil {
			details = []any{e.PlanLost}
		}
	}
	return temporal.NewApplicationErrorWithOptions(reason(err), kind, temporal.ApplicationErrorOptions{NonRetryable: true, Cause: err, Details: details})
}

// errorType is the type of the application error inside err; "" if none.
func errorType(err error) string {
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return app.Type()
	}
	return ""
}

// begun reports whether an activity that was cancelled says that it was running: one that
// was only queued says nothing.
func begun(err error) bool {
	c, ok := errors.AsType[*temporal.CanceledError](err)
	var detail string
	return ok && c.HasDetails() && c.Details(&detail) == nil && detail == AtWork
}

// isLost reports whether the last attempt of an activity was lost, with its worker or its answer.
func isLost(err error) bool {
	_, lost := errors.AsType[*temporal.TimeoutError](err)
	return lost
}

// cancelledWithWorker makes a cancellation, with such details, of the error of an activity that was
// cancelled and then lost, or handed back by a worker that ends: the server gives it no further
// attempt, and nothing is wrong with its step.
func cancelledWithWorker(ctx workflow.Context, err error, details ...any) error {
	if ctx.Err() != nil && (isLost(err) || errorType(err) == TransientError) {
		return temporal.NewCanceledError(details...)
	}
	return err
}

// reason is the innermost message of an error, without Temporal's wrapping.
func reason(err error) string {
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return app.Message()
	}
	if temporal.IsCanceledError(err) {
		return "cancelled"
	}
	if isLost(err) {
		return fmt.Sprintf("each of its %d attempts was lost with its worker, or the worker was silent for %s", attemptsMost, silence)
	}
	return err.Error()
}
