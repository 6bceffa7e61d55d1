package workflows

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// describe sets what the UI shows of a run: counts, then a table of the steps,
// hits with the key that names the run they came from.
func (r *run) describe(ctx workflow.Context) {
	counts := r.counts()
	var b strings.Builder
	if page := r.loaded.Features.Page; page != "" {
		fmt.Fprintf(&b, "[the graph of this run](%s/run/%s)\n\n", page, url.PathEscape(workflow.GetInfo(ctx).WorkflowExecution.ID))
	}
	fmt.Fprintf(&b, "**%s**: %d hit, %d ran, %d failed, %d skipped, %d cancelled, %d to do or not started\n\n| step | outcome | key |\n|---|---|---|\n",
		short(r.loaded.Name), counts[Hit], counts[Ran], counts[Failed], counts[Skipped], counts[Cancelled], counts[Waiting]+counts[Running]+counts[NotStarted])
	const most = 100
	for i, s := range r.steps {
		if i == most {
			fmt.Fprintf(&b, "| … %d more | | |\n", len(r.steps)-most)
			break
		}
		key := ""
		if !s.Key.IsZero() {
			key = s.Key.Hex()[:12]
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", short(s.Address), s.Status, key)
	}
	workflow.SetCurrentDetails(ctx, b.String())
}

// errorType is the type of the application error inside err; "" if none.
func errorType(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Type()
	}
	return ""
}

// begun reports whether an activity that was cancelled says that it was at work: one that
// was only queued says nothing.
func begun(err error) bool {
	var c *temporal.CanceledError
	var detail string
	return errors.As(err, &c) && c.HasDetails() && c.Details(&detail) == nil && detail == AtWork
}

// reason is the innermost message of an error, without Temporal's wrapping.
func reason(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Message()
	}
	if temporal.IsCanceledError(err) {
		return "cancelled"
	}
	return err.Error()
}
