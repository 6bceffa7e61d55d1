package cli

import (
	"cmp"
	"context"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/workflows"
)

// follow shows a run until it ends. The run is durable, so follow waits whatever happens to
// the connection or the server. When ctx ends it cancels the run and waits for that (the
// caller's second interrupt kills the process) or, with leave, leaves the run alone and
// returns errDetached.
func (a *app) follow(ctx context.Context, conn *drive.Connection, wf client.WorkflowRun, leave bool) (*workflows.ReproduceResult, error) {
	// The run outlives ctx while it is being cancelled.
	wctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	said := make(chan string, 100)
	a.sayer.through(func(text string) {
		select {
		case said <- text:
		default: // too many lines to read at once
		}
	})
	defer a.sayer.through(nil)

	live := view.NewLive(a.Err, a.style(a.Err), terminal(a.Err))
	defer live.Close()
	done := make(chan drive.Outcome, 1)
	go func() { done <- drive.AwaitEnd(wctx, wf) }()
	seen := make(chan drive.Sight)
	go a.Watch(wctx, conn, wf, seen)
	cancelled := ctx.Done()
	again := ""
	var now drive.Sight
	at, ending := time.Now(), ""
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	show := func(v drive.Sight) {
		if now, at = v, time.Now(); v.State.Again != again {
			again = v.State.Again
			live.Say("the run was started again: " + again)
		}
		live.Update(v.State, shown(v.Work), cmp.Or(v.Waits, ending), at)
	}
	for {
		select {
		case e := <-done:
			last, cancel := context.WithTimeout(wctx, 5*time.Second)
			defer cancel()
			if s, err := a.State(last, conn.Client, wf.GetID()); err == nil {
				show(drive.Sight{State: s})
			}
			return &e.Res, e.Err
		case v := <-seen:
			show(v)
		case <-clock.C:
			if unseen := time.Since(at); unseen > a.patience() {
				now.Waits = "waiting for the run's state: its worker or the Temporal server is slow"
			} else if unseen < time.Second {
				continue
			}
			live.Update(now.State, shown(now.Work), cmp.Or(now.Waits, ending), time.Now())
		case text := <-said:
			live.Say(text)
		case <-cancelled:
			if leave {
				return nil, errDetached
			}
			cancelled, ending = nil, "waiting for running steps to stop"
			live.Say("cancelling; finished results are kept (Ctrl-C again to quit at once)")
			go a.exitOnInterrupt(wctx)
			go drive.CancelRun(wctx, conn.Client, wf)
		}
	}
}

// shown is the work of steps, to print.
func shown(of map[string]drive.Work) map[string]view.Work {
	out := make(map[string]view.Work, len(of))
	for address, w := range of {
		out[address] = view.Work(w)
	}
	return out
}
