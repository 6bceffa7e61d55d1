package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/lists"
)

// Bounds of a hand-over to another execution: how long running work may delay it; and from how many events and bytes
// of history the run waits for that without a bound. The server ends a run with 51,200 events or 50 MB.
const (
	handOverGrace = 20 * time.Second
	fullEvents    = 40_000
	fullSize      = 40 << 20
)

// What the error of a run says about its failures; its record has all.
const (
	failuresTold = 20
	stepsTold    = 5 // by name, of the steps with one cause
	changedTold  = 1000

	furtherLine = "    " // begins the further lines of an error, which the CLI leaves out
)

// grown reports whether the run must continue in another execution: the server says that the history is long, and it
// has doubled since it was measured, as a large plan is no reason.
func (r *run) grown(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() && (info.GetCurrentHistoryLength() >= 2*r.events || info.GetCurrentHistorySize() >= 2*r.size || isFull(info))
}

func (r *run) measure(ctx workflow.Context) {
	info := workflow.GetInfo(ctx)
	r.events, r.size = info.GetCurrentHistoryLength(), info.GetCurrentHistorySize()
}

func isFull(info *workflow.Info) bool {
	return info.GetCurrentHistoryLength() >= fullEvents || info.GetCurrentHistorySize() >= fullSize
}

// handOver starts nothing until running work has ended, and reports whether another execution may continue. If work
// takes longer, this execution goes on, since work ends with the execution that gave it. Steps that rest are asked
// for again.
func (r *run) handOver(ctx workflow.Context) bool {
	r.stop = true
	idle := func() bool { return r.flying == r.resting }
	if isFull(workflow.GetInfo(ctx)) {
		_ = workflow.Await(ctx, idle)
	} else {
		_, _ = workflow.AwaitWithOptions(ctx, atMost(handOverGrace, "what is at work may end before the run continues as new"), idle)
	}
	if idle() && ctx.Err() == nil && !r.broken {
		r.rouse()
		_ = workflow.Await(ctx, func() bool { return r.flying == 0 })
		r.long = ctx.Err() == nil && !r.broken
	}
	r.stop = r.long || r.broken
	r.measure(ctx)
	return r.long
}

// continuation returns the error by which the next execution continues with all that this one knows, also failures,
// what they skip, and pins.
func (r *run) continuation(ctx workflow.Context) error {
	next := r.in
	next.RunID, next.Project, next.Hits, next.Carried = r.id, r.loaded.Project, nil, &Carried{Lock: r.loaded.Lock, Released: r.released, From: r.from, Restarted: r.restarted}
	plan := r.loaded.Plan
	next.Plan = &plan
	var steps []CarriedStep
	for i, s := range r.steps {
		if past := r.past[i]; s.Status != runs.Waiting || past != (Past{}) {
			s.Address, s.Activity, s.Workflow = "", "", ""
			steps = append(steps, CarriedStep{s, past})
		}
	}
	var err error
	if next.Carried.Steps, err = stash(ctx, steps); err == nil {
		next.Carried.Pins, err = stash(ctx, r.pins)
	}
	if err != nil {
		return err
	}
	ctx = workflow.WithWorkflowTaskTimeout(ctx, TaskTimeout) // a run started by hand may not have asked for it
	return workflow.NewContinueAsNewError(ctx, ReproduceWorkflow, next)
}

// resume fills in what the execution before has handed over.
func (r *run) resume(ctx workflow.Context, p *progress) error {
	c := r.in.Carried
	if c == nil {
		return nil
	}
	steps, err := unstash(ctx, c.Steps)
	if err != nil {
		return err
	}
	for _, s := range steps {
		r.past[s.Index] = s.Past
		to := s.Status
		s.Address, s.Status = p.heads[s.Index].Address, runs.Waiting
		p.steps[s.Index] = s.StepState
		if to != runs.Waiting {
			p.set(s.Index, to)
		}
	}
	r.loaded.Lock, r.released, r.from = c.Lock, c.Released, c.From
	r.pins, err = unstash(ctx, c.Pins)
	return err
}

// finish journals the run and reports failures.
func (r *run) finish(ctx workflow.Context, err error) (*ReproduceResult, error) {
	dctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	r.conclude(ctx, err)
	if err == nil {
		r.releaseAll(ctx)
	}
	r.describe(dctx)
	jerr := r.journal(dctx)
	if jerr != nil {
		jerr = fmt.Errorf("the record of run %s could not be written: %s; garbage collection keeps what it did until the next run records it", r.id, reason(jerr))
	}
	n := r.counts()
	out := &ReproduceResult{RunID: r.id, Plan: r.loaded.Plan, Hit: n[runs.Hit], Ran: n[runs.Ran], Failed: n[runs.Failed], Skipped: n[runs.Skipped], Cancelled: n[runs.Cancelled], NotStarted: n[runs.NotStarted], Released: r.released}
	for _, x := range r.steps {
		if x.Status == runs.Failed && x.Changed && len(out.Changed) < changedTold {
			out.Changed = append(out.Changed, x.Address)
		}
	}
	switch {
	case err != nil && jerr != nil && !temporal.IsCanceledError(err):
		return nil, fmt.Errorf("%w; %w", err, jerr)
	case err != nil:
		return nil, err
	case out.Failed+out.Cancelled+out.NotStarted > 0:
		text := r.failures(out)
		if jerr != nil {
			text += "\n" + jerr.Error()
		}
		return nil, temporal.NewNonRetryableApplicationError(text, FailedRun, nil, out)
	case jerr != nil:
		return nil, temporal.NewNonRetryableApplicationError(jerr.Error(), PermanentError, nil)
	}
	return out, nil
}

// Errors of steps that did not end.
const (
	forgotten    = "it was not started, for no reason: a bug in redsi. Run again: what is done stays"
	unanswered   = "its worker answered, and not for this step: a bug in redsi. Run again: what is done stays"
	runCancelled = "the run was cancelled"
)

// interrupted notes that a step's work ended because the run was cancelled; begun says that a worker was doing it.
func (r *run) interrupted(i int, begun bool) {
	r.steps[i].Error = runCancelled
	if begun {
		r.set(i, runs.Cancelled)
	} else {
		r.set(i, runs.NotStarted)
	}
}

// conclude gives every step that neither ended nor was skipped its status and the reason.
func (r *run) conclude(ctx workflow.Context, err error) {
	why, working, is := forgotten, "the run ended while it was running", runs.NotStarted
	switch {
	case ctx.Err() != nil:
		why, working, is = runCancelled, runCancelled, runs.Cancelled
	case err != nil:
		why = "the run could not continue: " + reason(err)
	case r.broken:
		why = "a step failed, and the run starts nothing after a failure"
	}
	for i, s := range r.steps {
		switch s.Status {
		case runs.Waiting:
			r.steps[i].Error = why
			r.set(i, runs.NotStarted)
		case runs.Running:
			r.steps[i].Error = working
			r.set(i, is)
		}
	}
}

// failures returns the text of a run's error: counts, and the first failures. Steps with the same error are reported
// together.
func (r *run) failures(out *ReproduceResult) string {
	var b strings.Builder
	var sum []string
	of := fmt.Sprintf(" of %d steps", len(r.steps))
	for _, n := range []struct {
		count int
		what  runs.Status
	}{{out.Failed, runs.Failed}, {out.Cancelled, runs.Cancelled}, {out.Skipped, runs.Skipped}, {out.NotStarted, runs.NotStarted}} {
		if n.count > 0 {
			sum, of = append(sum, fmt.Sprintf("%d%s %s", n.count, of, n.what)), ""
		}
	}
	b.WriteString(strings.Join(sum, ", ") + ":")
	told := 0
	for _, s := range r.steps {
		if s.Lacks == 0 {
			continue
		}
		if told++; told <= stepsTold {
			fmt.Fprintf(&b, "\n%s is incomplete: it is without %d of the steps that it gathers, which have failed or need what failed", s.Address, s.Lacks)
		}
	}
	if told > stepsTold {
		fmt.Fprintf(&b, "\n… and so are %d more", told-stepsTold)
	}
	failed := map[string][]string{} // addresses of steps by their error
	var causes []string
	left := 0
	for _, s := range r.steps {
		if s.Status != runs.Failed && (s.Status != runs.Cancelled || strings.HasPrefix(s.Error, needs)) && s.Error != forgotten {
			continue
		}
		if failed[s.Error] == nil {
			causes = append(causes, s.Error)
		}
		failed[s.Error] = append(failed[s.Error], s.Address)
		left++
	}
	for told, cause := range causes {
		if told == failuresTold {
			fmt.Fprintf(&b, "\n… and %d more; the run's record has all", left)
			break
		}
		who := failed[cause]
		more := ""
		if n := len(who) - stepsTold; n > 0 {
			who, more = who[:stepsTold], fmt.Sprintf(" and %d more", n)
		}
		b.WriteString("\n" + strings.Join(who, ", ") + more + ": " + strings.ReplaceAll(cause, "\n", "\n"+furtherLine))
		left -= len(failed[cause])
	}
	return b.String()
}

// close removes the note that the run is open, if there is one: the run was cancelled while its plan was loaded, and
// has no record.
func (r *run) close(ctx workflow.Context) {
	dctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	options := doing(controlQueue(ctx), "close the run", lookUp)
	options.ScheduleToCloseTimeout = lookUp
	if err := workflow.ExecuteActivity(workflow.WithActivityOptions(dctx, options), CloseActivity, r.id).Get(dctx, nil); err != nil {
		workflow.GetLogger(ctx).Warn("the run stays noted as open, and what it made is kept: redsi gc --forget-run forgets it", "run", r.id, "err", err)
	}
}

func (r *run) journal(ctx workflow.Context) error {
	req := JournalRequest{Lock: r.loaded.Lock, Run: runs.Record{RunID: r.id, Workflow: workflow.GetInfo(ctx).WorkflowExecution.ID,
		Pipeline: r.loaded.Name, Project: r.loaded.Project, Plan: r.loaded.Plan, Targets: r.in.Targets, Counts: r.counts()}}
	steps := make([]runs.Step, len(r.steps))
	for i, s := range r.steps {
		steps[i] = runs.Step{Address: s.Address, Key: s.Key, Outcome: s.Status, TookS: s.TookS, Error: s.Error}
		if s.Lacks > 0 {
			steps[i].Lacks = lists.Map(r.without(i), func(d int) string { return r.steps[d].Address })
		}
	}
	var err error
	if req.Steps, err = stash(ctx, steps); err == nil {
		req.Pins, err = stash(ctx, r.pins)
	}
	if err != nil {
		return err
	}
	jctx := workflow.WithActivityOptions(ctx, doing(controlQueue(ctx), "write the run record", lookUp))
	return workflow.ExecuteActivity(jctx, JournalActivity, req).Get(ctx, nil)
}
