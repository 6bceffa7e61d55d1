package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/session/saved"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

func (a *app) run(ctx context.Context, o runOptions) (err error) {
	began := time.Now()
	if err := o.checkNotify(); err != nil {
		return err
	}
	if p := o.Priority; p < 0 || p > 5 || p == 0 && a.cmd.Flags().Changed("priority") {
		return fault.Input(fmt.Errorf("--priority %d: want 1, which is first, to 5; a run without it has %d", p, drive.UsualPriority))
	}
	if o.Pilots, err = a.pilots(&o); err != nil {
		return err
	}
	var sum *drive.Summary
	defer func() {
		if o.notify != "" { // not if a job was submitted in place of the run: that job does it
			a.notify(ctx, o.notify, began, sum, err)
		}
	}()
	if o.slurm.asJob != "" {
		if queued, err := a.asJob(ctx, &o); err != nil || queued {
			return err
		}
	}
	if o.Loaded == nil {
		o.Loaded = a.sayLocal
	}
	o.FailedBefore = func(pl *plan.Plan, failed map[int]journal.Failed) { view.FailedBefore(a.Err, pl, failed, o.Skip) }
	o.Before = func(ctx context.Context, of session.Seen) error {
		view.Ignored(a.Err, origins.Folders(of.Preview.Plan))
		if err := a.sayOthers(ctx, of.Store, of.Preview); err != nil {
			return err
		}
		return a.confirm(ctx, o.confirm, of.Store, of.Preview)
	}
	o.Begun = a.begun
	o.Command = func(more ...string) string {
		args, _ := atDash(a.cmd, a.cmd.Flags().Args())
		if targets := a.cmd.Flags().Lookup("target"); targets != nil {
			args = append(args, session.TargetFlags(values(targets))...)
		}
		return a.hint(a.cmd.Name(), append(args, more...)...)
	}
	sum, err = a.Reproduce(ctx, o.RunOptions)
	var drifted *saved.Drifted
	switch {
	case errors.As(err, &drifted):
		return cmp.Or(a.print(map[string]any{"drift": drifted.Drifts}, func(w io.Writer) { view.Drifts(w, drifted.Drifts) }), err)
	case sum == nil:
		return err
	case o.Detach && sum.RunID != "":
		workflow := workflows.ReproduceWorkflowID(sum.RunID)
		return cmp.Or(err, a.print(map[string]string{"workflow": workflow, "run": sum.RunID, "url": sum.URL}, func(w io.Writer) { view.Printf(w, "started %s\n%s\n", workflow, sum.URL) }))
	}
	out := runSummary{Summary: sum, Started: began, TookS: time.Since(began).Seconds()}
	if stopped, ok := errors.AsType[*drive.Cancelled](err); ok {
		if a.JSON && stopped.Sum != "" {
			return cmp.Or(view.WriteJSON(a.Out, out), err)
		}
		return err
	}
	if sum.RunID != "" {
		var verr error
		if out.Compared, verr = rebuild.WithOthers(ctx, a.Session, sum.Of.Store, a.localActivities, sum.Of.Plan, sum.RunID); verr != nil {
			return cmp.Or(err, verr)
		}
	}
	return cmp.Or(err, a.conclude(ctx, o, &out), rebuild.Disagree(out.Compared))
}

// begun says which run is followed.
func (a *app) begun(runID, url string) {
	if a.events != nil {
		a.events.Begun(runID, url)
		return
	}
	view.Printf(a.Err, "run %s\nTemporal UI: %s\n", runID, url)
}

// show shows a run that is followed, and what is said meanwhile.
func (a *app) show() (s drive.Screen, said <-chan string, over func()) {
	lines := make(chan string, 100)
	a.sayer.through(func(text string) {
		select {
		case lines <- text:
		default: // too many lines to read at once
		}
	})
	rest := func() { // what was said last, and nobody has read
		a.sayer.through(nil)
		close(lines)
		for text := range lines {
			s.Say(text)
		}
	}
	if a.events != nil {
		return a.events, lines, rest
	}
	live := view.NewLive(a.Err, a.style(a.Err), terminal(a.Err))
	return live, lines, func() {
		rest()
		live.Close()
	}
}
