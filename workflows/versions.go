package workflows

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// OtherVersionError is the type of the failure of a workflow that this code cannot go on
// with, since another version of redsi began it: it must be started again.
const OtherVersionError = "other-version"

// RunAgain is with which policy a run is started: one that another version of redsi
// began is started again by the server, with the same input, and finds in the store what
// is finished. All other ends of a run are for good, see final.
func RunAgain() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 15 * time.Second, MaximumAttempts: 5}
}

// final makes an error of a run one that the server does not retry. A cancellation and
// continue-as-new are not failures.
func final(err error) error {
	_, next := errors.AsType[*workflow.ContinueAsNewError](err)
	app, ok := err.(*temporal.ApplicationError)
	if err == nil || next || temporal.IsCanceledError(err) || ok && app.NonRetryable() {
		return err
	}
	return ended(err)
}

// What the SDK says of a workflow whose code panics or does not do what its history
// says. It has no types for these.
const (
	sdkFailed   = "Workflow failed on panic due to FailWorkflow workflow panic policy"
	sdkMismatch = "[TMPRL1100]"
	sdkTooSlow  = "[TMPRL1101]"
)

// Failures is a failure converter that says in redsi's words, to the server and to who
// asks it, why a workflow was given up by the SDK; the SDK's stay as the cause.
func Failures(c converter.FailureConverter) converter.FailureConverter {
	return failures{FailureConverter: c}
}

type failures struct {
	converter.FailureConverter
	workflow string // "" if it is not known
}

// WithSerializationContext is how the SDK tells whose failure it is.
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

// told is the error in redsi's words, if the SDK gave a workflow up.
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
