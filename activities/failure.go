package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Bounds of what an activity tells the server, in bytes. The server refuses a longer text, or one that is not UTF-8: the
// answer would be lost and the work done again.
const (
	maxError = 8 << 10
	maxNote  = 300
)

// errorTries is how often an activity may end in an error that a retry might fix: with the pauses, within about a
// minute and a half. An attempt that is lost with its worker, or in the sleep of its machine, does not count: see
// workflows.
const errorTries = 10

// deadliest is how many processes a step may cost. The card may be the cause, or others that took the memory; if it
// is the step, no more processes are to be lost.
const deadliest = 3

// pause returns the time until the next attempt: 1, 2, 4, 8 and then 15 seconds.
func pause(attempt int32) time.Duration {
	return min(time.Second<<min(attempt-1, 4), 15*time.Second)
}

// failure gives an error the type that decides about its retry, and a text that the server takes. Once the context
// has ended, a step's own error does not count: it was cancelled, or its worker lost the server for a while, which a
// retry fixes.
func (a *Activities) failure(ctx context.Context, err error) error {
	var plan *planLostError
	var try *failedTry
	misread := a.misread(ctx, err) // first, as it deletes a corrupt blob
	ended := ctx.Err() != nil
	cancelled := ended && (temporal.IsCanceledError(context.Cause(ctx)) || errors.Is(context.Cause(ctx), context.Canceled))
	switch {
	case err == nil:
		return nil
	case step.IsPoisoned(err) && !cancelled:
		return died(ctx, err)
	case is[*compute.ProgramError](err): // the second program is not to be used here
		return temporal.NewNonRetryableApplicationError(errorText(err), workflows.PermanentError, nil)
	case ended && !cancelled:
		return temporal.NewApplicationErrorWithOptions(errorText(fmt.Errorf("interrupted: %w", context.Cause(ctx))), workflows.TransientError,
			temporal.ApplicationErrorOptions{NextRetryDelay: pause(1)})
	case ended, errors.Is(err, context.Canceled):
		return context.Canceled
	case is[*temporal.ApplicationError](err):
		return err
	case errors.As(err, &try):
		return temporal.NewApplicationErrorWithOptions(errorText(err), workflows.TransientError, temporal.ApplicationErrorOptions{NextRetryDelay: pause(int32(try.failed))})
	case errors.As(err, &plan):
		return temporal.NewNonRetryableApplicationError(errorText(err), workflows.PlanLostError, nil, plan.PlanLost)
	case a.sourceChanged(err):
		return temporal.NewNonRetryableApplicationError(errorText(err), workflows.SourceChangedError, nil)
	case step.IsPermanent(err), is[*payload.Error](err): // only another key than this worker's would fix it
		return temporal.NewNonRetryableApplicationError(errorText(err), workflows.PermanentError, nil)
	case misread:
		return retried(ctx, err)
	case artifacts.IsLost(err):
		return temporal.NewNonRetryableApplicationError(errorText(err), workflows.InputLostError, nil)
	}
	if advice := hopeless(err); advice != "" {
		return temporal.NewNonRetryableApplicationError(errorText(fmt.Errorf("%w; %s", err, advice)), workflows.PermanentError, nil)
	}
	return retried(ctx, err)
}

// deadly says that a step has cost as many processes as it may.
type deadly struct {
	error
	n int
}

func (d *deadly) Unwrap() error { return d.error }

// died returns the error of a step that its process did not survive, or of a card that failed: the next attempt has a new
// process.
func died(ctx context.Context, err error) error {
	if last, ok := errors.AsType[*deadly](err); ok {
		return temporal.NewNonRetryableApplicationError(errorText(fmt.Errorf("%w\n%d processes died of it, so it is not tried again", err, last.n)), workflows.PermanentError, nil)
	}
	return retried(ctx, fmt.Errorf("%w\nit continues in a new process, from its checkpoint if it has one", err))
}

// misread reports whether err is about a blob whose bytes were changed on the way, or may have been, as the store
// does not answer. A blob that is wrong in the store is deleted, so that its producer has no result and is run again.
func (a *Activities) misread(ctx context.Context, err error) bool {
	bad, ok := errors.AsType[*artifacts.IntegrityError](err)
	switch {
	case !ok:
		return false
	case bad.Other: // the store has none of it
		a.Log.Warn("a blob from another store is corrupt and was not used; the step that makes it will run here", "blob", bad.Want, "where", bad.Where)
		return false
	}
	dropped, err := artifacts.DropCorrupt(ctx, a.Store.Own, bad.Want)
	switch {
	case err != nil:
		a.Log.Warn("a blob that seems corrupt could not be read once more, and stays; redsi verify --repair deletes it if it is", "blob", bad.Want, "err", err)
		return true
	case dropped:
		a.Log.Warn("a corrupt blob was removed; its producer will run again", "blob", bad.Want)
		return false
	}
	missing, err := a.Store.Missing(ctx, []artifacts.Digest{bad.Want})
	return err != nil || len(missing) == 0
}

// retried returns an error that is retried, unless errorTries attempts have failed.
func retried(ctx context.Context, err error) error {
	n := failed(ctx).Add(1)
	if n >= errorTries {
		return temporal.NewNonRetryableApplicationError(errorText(fmt.Errorf("%w (tried %d times)", err, n)), workflows.PermanentError, nil)
	}
	return temporal.NewApplicationErrorWithOptions(errorText(err), workflows.TransientError,
		temporal.ApplicationErrorOptions{NextRetryDelay: pause(n)})
}

// ErrEnding is why an activity of a worker that stops is interrupted. It is no cancellation, so that another worker
// gets the activity at once.
var ErrEnding = errors.New("the worker is ending")

type failedKey struct{}

// failed returns how many attempts of the context's activity have ended in an error, on any worker.
func failed(ctx context.Context) *atomic.Int32 {
	if n, ok := ctx.Value(failedKey{}).(*atomic.Int32); ok {
		return n
	}
	return new(atomic.Int32)
}

// permanent reports whether an error of an activity, after so many tries, is the step's own: a retry cannot fix it, or
// errorTries did not. Errors about an input's bytes are the input's, not the step's.
func permanent(err error, try int32) bool {
	switch {
	case is[*step.SourceChangedError](err), is[*failedTry](err), is[*compute.ProgramError](err), artifacts.IsLost(err):
		return false
	case step.IsPoisoned(err):
		return is[*deadly](err) || try >= errorTries
	}
	return step.IsPermanent(err) || hopeless(err) != "" || try >= errorTries
}

// is reports whether an error is, or wraps, an error of type E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// hopeless returns what a person has to do about an error that recurs at every try; "" if a retry might mend it.
func hopeless(err error) string {
	one := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
	var exit *command.ExitError
	switch {
	case one(syscall.ENOSPC, syscall.EDQUOT):
		return "a retry cannot fix this: free space or raise the quota there"
	case one(syscall.EFBIG):
		return "a retry cannot fix this: the file is larger than the file system or `ulimit -f` allows; raise that"
	case one(syscall.EROFS):
		return "a retry cannot fix this: the file system there is read-only; make it writable or use another folder"
	case one(fs.ErrPermission):
		return "a retry cannot fix this: give this user the right to do that"
	case one(errors.ErrUnsupported, syscall.ENOLCK):
		return "a retry cannot fix this: the system there cannot do that"
	case one(syscall.E2BIG):
		return "a retry cannot fix this: arguments and environment are longer than the system allows; pass long values in files"
	case one(syscall.EINVAL):
		return "a retry cannot fix this: the system rejects an argument, perhaps for a NUL byte in argv, env or a file name"
	case one(syscall.ENAMETOOLONG, syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP):
		return "a retry cannot fix this: use another file name or folder"
	case is[*artifacts.RefusedError](err):
		return "a retry cannot fix this"
	case errors.As(err, &exit) && !exit.Passing():
		return "a program that ends like this would do so again"
	}
	return ""
}

// errorText returns the text of an error, as the server takes it.
func errorText(err error) string { return bounded(err.Error(), maxError) }

// bounded returns a text as valid UTF-8, cut in the middle if it has more than most bytes: more of its beginning
// stays than of its end.
func bounded(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	const left = " […] "
	head := (most - len(left)) * 3 / 4
	tail := len(text) - (most - len(left) - head)
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + left + text[tail:]
}

// overTime says that a step's work took longer than it asked for.
type overTime struct{ error }

// failedTry is a failure of a step's program after which the step is retried.
type failedTry struct {
	error
	failed int // tries, including this one
}

// sourceChanged reports whether err says that a file here has other bytes than the plan says. If so, it drops the file's
// remembered checksum, so that no later plan has it.
func (a *Activities) sourceChanged(err error) bool {
	changed, is := errors.AsType[*step.SourceChangedError](err)
	if is && a.Forget != nil {
		if err := a.Forget(changed.Path); err != nil {
			a.Log.Warn("could not forget the checksum of a changed file", "path", changed.Path, "err", err)
		}
	}
	return is
}

// atWork gives the cancellation of an activity that had begun its detail.
func atWork(err error) error {
	if errors.Is(err, context.Canceled) {
		return temporal.NewCanceledError(workflows.AtWork)
	}
	return err
}

// failureTime bounds an attempt to store a failure; outageTime bounds the attempts, if no later attempt of the step
// stores it: no run ends before its store is back.
const (
	failureTime = 10 * time.Second
	outageTime  = time.Minute
)

// insist retries what a store that is away refuses, each second, until most or ctx is over.
func insist(ctx context.Context, most time.Duration, do func() error) error {
	for end := time.Now().Add(most); ; {
		err := do()
		if err == nil || hopeless(err) != "" || !time.Now().Before(end) || readers.Pause(ctx, time.Second) != nil {
			return err
		}
	}
}

// planLostError says that the store has no plan of that digest.
type planLostError struct {
	workflows.PlanLost
	err error
}

func (e *planLostError) Error() string { return e.err.Error() }

// keepFailure records how a step failed. If that fails it logs a warning; a further attempt of the step records its own
// failure.
func (a *Activities) keepFailure(ctx context.Context, req workflows.ExecuteRequest, of admitted, took time.Duration, log *stepLog, cause error) {
	if req.RunID == "" {
		return
	}
	f := runs.Failure{RunID: req.RunID, Step: req.Address, Key: req.Key, Outcome: runs.Failed, Error: errorText(cause),
		Attempt: 1, Tries: of.failed, Host: runs.Place(a.Env), Ended: time.Now().UTC(), TookS: took.Seconds()}
	if activity.IsActivity(ctx) {
		f.Attempt = activity.GetInfo(ctx).Attempt
	}
	if try, ok := errors.AsType[*failedTry](cause); ok {
		f.Tries = try.failed
		a.Log.Warn("its program failed; it is tried again", "step", req.Address, "try", try.failed, "of", of.asks.Tries+1)
	}
	if ctx.Err() != nil {
		f.Outcome = runs.Cancelled
	}
	if errors.Is(context.Cause(ctx), ErrEnding) {
		before, _ := runs.ReadFailure(context.WithoutCancel(ctx), a.Store.Own, req.RunID, req.Key) // of a store that is away, which is told below
		f.Cut, f.NeedsS = before.Cut+1, max(before.NeedsS, took.Seconds())
	}
	f.Revision, f.Permanent = a.Env["revision"], f.Outcome == runs.Failed && permanent(cause, failed(ctx).Load()+1)
	most := time.Duration(0)
	if f.Permanent || f.Tries > of.failed {
		most = outageTime
	}
	if err := insist(ctx, most, func() error {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), failureTime)
		defer stop()
		f := f
		f.Log = log.keep(ctx, a, req.Address)
		err := runs.WriteFailure(ctx, a.Store.Own, f)
		if f.Permanent && !req.Of.IsZero() {
			f.Key, f.Part, f.Log = req.Of, req.Key, nil
			err = errors.Join(err, runs.WriteFailure(ctx, a.Store.Own, f))
		}
		return err
	}); err != nil {
		a.Log.Warn("could not record the step's failure", "step", req.Address, "err", err)
	}
}
