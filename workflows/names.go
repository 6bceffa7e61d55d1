package workflows

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// StepWorkflowID is the workflow ID of a step that is cut, by the number of its work in an execution of its run: that
// of a run which is started again may be open still.
func StepWorkflowID(execution string, number int) string {
	return fmt.Sprintf("step/%s/%d", execution, number)
}

// NewRunID makes the name of a run: names sort by time. Of the eight hexadecimal digits at
// its end, three say when in the second it began, in 1/4096 s; five are the end of unique,
// and tell apart runs of one moment.
func NewRunID(at time.Time, unique string) string {
	at = at.UTC()
	part := at.Nanosecond() * 4096 / int(time.Second)
	return fmt.Sprintf("%s-%03x%s", at.Format(runTime), part, unique[max(0, len(unique)-5):])
}

const runTime = "20060102T150405Z"

// RunBegan is when a run began, to the second, by its id: the execution of its workflow may
// be a later one. ok is false for an id that NewRunID has not made.
func RunBegan(id string) (at time.Time, ok bool) {
	text, _, _ := strings.Cut(id, "-")
	at, err := time.Parse(runTime, text)
	return at, err == nil
}

// ReproduceWorkflowID is the workflow ID that `redsi run` gives to a run.
func ReproduceWorkflowID(runID string) string { return "reproduce-" + runID }

// pipelineAttribute is the search attribute by which runs are found in the UI.
var pipelineAttribute = temporal.NewSearchAttributeKeyKeyword("RedsiPipeline")

// SearchAttributes are the names that a server must have, all of type Keyword.
func SearchAttributes() []string { return []string{pipelineAttribute.GetName()} }

// searchable is an address without its quotation marks, step.dedup.nq[url]: the UI would curl those of a summary.
func searchable(address string) string { return Short(strings.ReplaceAll(address, `"`, "")) }

// askedAgain is how often a question is given to another poll: more than the polls that
// one stopping worker leaves behind.
const askedAgain = 10

// Ask puts a query to a run and decodes its answer. The server may hand a question to the
// poll of a worker that has just stopped. Then it ends as cancelled, or with the SDK's own
// bound of one call (10 s). It is asked again while ctx lives.
func Ask[T any](ctx context.Context, c client.Client, workflow, query string, args ...any) (answer T, err error) {
	for n := 0; ; n++ {
		v, err := c.QueryWorkflow(ctx, workflow, "", query, args...)
		if err == nil {
			return answer, v.Get(&answer)
		}
		_, gone := errors.AsType[*serviceerror.Canceled](err)
		if n == askedAgain || ctx.Err() != nil || !gone && !Late(err) {
			return answer, err
		}
	}
}

// Late reports whether a call to Temporal ended because no answer came in its time, which
// is the SDK's bound unless the caller's context ended.
func Late(err error) bool {
	_, late := errors.AsType[*serviceerror.DeadlineExceeded](err)
	return late || errors.Is(err, context.DeadlineExceeded)
}
