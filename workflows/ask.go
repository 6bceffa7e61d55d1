package workflows

import (
	"context"
	"errors"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

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
