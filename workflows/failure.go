package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
)

// OtherVersionError is the type of the failure of a workflow that this code cannot continue, since another version of
// redsi began it: it must be restarted.
const OtherVersionError = "other-version"

// RunAgain returns the retry policy of runs: the server restarts a run that another version of redsi began, with the
// same input, and the run finds in the store what is finished. No other failure of a run is retried, see final.
func RunAgain() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 15 * time.Second, MaximumAttempts: 5}
}

// final returns an error of a run that the server does not retry. A cancellation and continue-as-new are not failures.
func final(err error) error {
	_, next := errors.AsType[*workflow.ContinueAsNewError](err)
	app, ok := err.(*temporal.ApplicationError)
	if err == nil || next || temporal.IsCanceledError(err) || ok && app.NonRetryable() {
		return err
	}
	return ended(err)
}

// What the SDK says of a workflow whose code panics or does not follow its history. It has no types for these.
const (
	sdkFailed   = "Workflow failed on panic due to FailWorkflow workflow panic policy"
	sdkMismatch = "[TMPRL1100]"
	sdkTooSlow  = "[TMPRL1101]"
)

// Failures returns a failure converter that tells the server, and whoever asks it, in redsi's words why the SDK gave
// a workflow up. The SDK's words stay as the cause.
func Failures(c converter.FailureConverter) converter.FailureConverter {
	return failures{FailureConverter: c}
}

type failures struct {
	converter.FailureConverter
	workflow string // its ID; "" if the SDK does not tell
}

// WithSerializationContext returns the converter for the workflow that the SDK names.
func (f failures) WithSerializationContext(ctx converter.SerializationContext) converter.FailureConverter {
	if w, ok := ctx.(converter.WorkflowSerializationContext); ok {
		f.workflow = w.WorkflowID
	}
	f.FailureConverter = converter.WithFailureConverterSerializationContext(f.FailureConverter, ctx)
	return f
}

func (f failures) ErrorToFailure(err error) *failure.Failure {
	return f.FailureConverter.ErrorToFailure(f.told(err))
}

func (f failures) FailureToError(x *failure.Failure) error {
	return f.told(f.FailureConverter.FailureToError(x))
}

// told returns the error in redsi's words, if the SDK gave a workflow up.
func (f failures) told(err error) error {
	app, ok := err.(*temporal.ApplicationError)
	if !ok || app.Message() != sdkFailed || app.Unwrap() == nil {
		return err
	}
	who, cause := f.workflow, app.Unwrap()
	who = cmp.Or(who, "this workflow")
	switch why := cause.Error(); {
	case strings.Contains(why, sdkMismatch):
		return temporal.NewApplicationErrorWithCause(who+" was started by another version of redsi, and this one cannot continue it; "+
			"finished steps are in the store, and a new run continues from them", OtherVersionError, cause)
	case strings.Contains(why, sdkTooSlow):
		return temporal.NewApplicationErrorWithCause(who+" was given up: the worker's machine is too busy; "+
			"finished steps are in the store, and a new run continues from them", TransientError, cause)
	default:
		return temporal.NewNonRetryableApplicationError(who+" was given up: a bug in redsi: "+why, PermanentError, cause)
	}
}

// Errors cross Temporal as application errors: the type is the kind of error, the detail has its fields, and the
// message is only for people. Only ErrorOf turns them back into Go errors.

// PlanLost is the detail of a PlanLostError: which plan a worker's store lacks.
type PlanLost struct {
	Plan  artifacts.Digest `json:"plan"`
	Store string           `json:"store"` // the worker's
}

// RunError is the error of a run that did not do all of its steps.
type RunError struct {
	Type   string          // PermanentError and the like; FailedRun
	Text   string          // for people
	Result ReproduceResult // of a FailedRun; without a RunID if the run ended before its steps

	PlanLost *PlanLost // of a PlanLostError
}

func (e *RunError) Error() string { return e.Text }

// ErrorOf returns the application error inside err, nil if there is none. It leaves out details that are not there,
// or that cannot be read, as another version of redsi wrote them.
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

// ended returns an error of a run that the server does not retry, with the type and fields of the error in it.
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

// errorType returns the type of the application error inside err; "" if there is none.
func errorType(err error) string {
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return app.Type()
	}
	return ""
}

// begun reports whether an activity that was cancelled says that it was running. A queued activity says nothing.
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

// cancelledWithWorker returns a cancellation, with the details, in place of the error of an activity that was
// cancelled and then lost, or handed back by a worker that ends: the server gives it no further attempt, and nothing
// is wrong with its step.
func cancelledWithWorker(ctx workflow.Context, err error, details ...any) error {
	if ctx.Err() != nil && (isLost(err) || errorType(err) == TransientError) {
		return temporal.NewCanceledError(details...)
	}
	return err
}

// reason returns the innermost message of an error, without Temporal's wrapping.
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
