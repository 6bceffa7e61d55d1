package workflows

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
)

// partsInFlight bounds the parts of one step that are queued at a time; the workers' slots bound how many run.
const partsInFlight = 64

// silence is how long an activity may go without a heartbeat before the server takes its worker for lost: with the
// first interval of retries and the way to another worker, a lost attempt of any activity costs less than 20 seconds.
const silence = 15 * time.Second

// attemptsMost bounds the attempts of an activity.
const attemptsMost = 200

// retries is the retry policy of every activity. Attempts may be lost with their workers, or each time that a laptop
// sleeps, and the next one follows at once, however many were lost: with growing intervals, workers that are lost at
// regular times could meet every attempt. The activity itself decides how often an error is worth a retry, and after
// which time, and then ends with PermanentError.
func retries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1,
		MaximumAttempts: attemptsMost, NonRetryableErrorTypes: []string{PermanentError, InputLostError, SourceChangedError}}
}

// doing returns the options of an activity: how long it may work, as a bound on what hangs and no estimate, and its
// name in the UI.
func doing(queue, summary string, most time.Duration) workflow.ActivityOptions {
	return workflow.ActivityOptions{TaskQueue: queue, StartToCloseTimeout: most, HeartbeatTimeout: silence,
		WaitForCancellation: true, RetryPolicy: retries(), Summary: Short(summary)}
}

// atMost bounds a wait, and names its purpose in the UI.
func atMost(bound time.Duration, summary string) workflow.AwaitOptions {
	return workflow.AwaitOptions{Timeout: bound, TimerOptions: workflow.TimerOptions{Summary: summary}}
}

// unbounded is for work whose length nobody knows.
const unbounded = 30 * 24 * time.Hour

// Short cuts a text to a summary that the server takes: it refuses a command with a summary of more than 400 bytes.
func Short(text string) string {
	return cut(strings.ToValidUTF8(text, "\uFFFD"), 200)
}

// cut returns the beginning of a text, of at most so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// queueName maps a step's queue to a task queue.
func queueName(ctx workflow.Context, queue string) string {
	if queue == "gpu" {
		return GPUQueue(workflow.GetInfo(ctx).TaskQueueName)
	}
	return workflow.GetInfo(ctx).TaskQueueName
}

func controlQueue(ctx workflow.Context) string {
	return ControlQueue(workflow.GetInfo(ctx).TaskQueueName)
}

// execute runs one task of a step as an activity, and lets it rest while a worker says that it is not the one. If another
// execution must continue, in.Failed says how often the task has failed so far.
func execute(ctx workflow.Context, in StepInput, req ExecuteRequest) (Outcome, error) {
	req.RunID, req.Resources, req.Failed = in.RunID, in.Resources, in.Failed[req.Key]
	actx := workflow.WithActivityOptions(ctx, doing(queueName(ctx, in.Queue), req.Address, unbounded))
	for {
		var out Outcome
		err := cancelledWithWorker(ctx, workflow.ExecuteActivity(actx, ExecuteActivity, req).Get(ctx, &out), AtWork)
		if err != nil || out.NotHere == nil {
			delete(in.Failed, req.Key)
			return out, err
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			if out.Failed > 0 { // few have, so that the next input stays short
				in.Failed[req.Key] = out.Failed
			}
			return out, errLong
		}
		if err := rest(ctx, "", RestRequest{Key: req.Key, Address: req.Address, RunID: req.RunID, NotHere: *out.NotHere}); err != nil {
			return out, err
		}
		req.WasBusy, req.Failed = out.NotHere.Busy, out.Failed
	}
}

// rest waits until a step may be asked for again, on the control queue, in a slot that takes none from work. It is
// not waited for when it is cancelled. Its ID is given, or the SDK's.
func rest(ctx workflow.Context, id string, req RestRequest) error {
	why := "left to another worker"
	if req.NotHere.Busy {
		why = "another step or run is working on it"
	}
	options := doing(controlQueue(ctx), req.Address+runs.Part+why, unbounded)
	options.WaitForCancellation, options.ActivityID = false, id
	return cancelledWithWorker(ctx, workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), RestActivity, req).Get(ctx, nil))
}

// Step does a step that is cut into parts: each part under its own key, and then the step itself.
func Step(ctx workflow.Context, in StepInput) (Outcome, error) {
	if in.Failed == nil {
		in.Failed = map[artifacts.Digest]int32{}
	}
	req := ExecuteRequest{Key: in.Key, Task: in.Task, Address: in.Address}
	parts, err := runParts(ctx, in)
	if err == nil {
		req.Parts, err = stash(ctx, parts)
	}
	var out Outcome
	if err == nil {
		out, err = execute(ctx, in, req)
	}
	err = cancelledWithWorker(ctx, err)
	switch {
	case !errors.Is(err, errLong):
		return out, err
	case ctx.Err() != nil: // cancelled meanwhile, no other execution continues
		return out, temporal.NewCanceledError(AtWork)
	}
	return Outcome{}, workflow.NewContinueAsNewError(ctx, StepWorkflow, in)
}

// errLong says that a step has so many parts that another execution must continue:
// it cuts the step again and finds what is done.
var errLong = errors.New("the history is long")

// runParts cuts the step and runs the parts that have no result, each under its
// own key, and returns the keys in the order of the cut.
func runParts(ctx workflow.Context, in StepInput) ([]artifacts.Digest, error) {
	sctx := workflow.WithActivityOptions(ctx, doing("", in.Address+" · cut into parts", unbounded))
	var split Pages[Part]
	req := ExecuteRequest{Key: in.Key, Task: in.Task, Address: in.Address, RunID: in.RunID}
	if err := workflow.ExecuteActivity(sctx, SplitActivity, req).Get(ctx, &split); err != nil {
		return nil, err
	}
	parts, err := unstash(ctx, split)
	if err != nil {
		return nil, err
	}
	keys := make([]artifacts.Digest, len(parts))
	slots := workflow.NewSemaphore(ctx, partsInFlight)
	wg := workflow.NewWaitGroup(ctx)
	var failures []error
	started := 0
	for i, p := range parts {
		keys[i] = p.Key
		if p.Hit {
			continue
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() && started >= partsInFlight {
			failures = append(failures, errLong)
			break
		}
		started++
		takes := int64(1)
		if p.OneByOne {
			takes = partsInFlight
		}
		if err := slots.Acquire(ctx, takes); err != nil {
			failures = append(failures, err)
		}
		if len(failures) > 0 { // the step has failed: it starts nothing more
			break
		}
		wg.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer wg.Done()
			defer slots.Release(takes)
			label := in.Address + runs.Part + p.Label
			done, err := execute(ctx, in, ExecuteRequest{Key: p.Key, Task: p.Task, Address: label, Of: in.Key})
			if err != nil {
				failures = append(failures, err)
				return
			}
			keys[i] = done.Key
		})
	}
	wg.Wait(ctx)
	var failed error
	for _, err := range failures {
		if failed == nil || errors.Is(failed, errLong) || temporal.IsCanceledError(failed) && begun(err) { // a cancelled part that was running goes first
			failed = err
		}
	}
	if failed != nil {
		return nil, failed
	}
	return keys, nil
}
