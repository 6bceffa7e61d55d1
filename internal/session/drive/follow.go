package drive

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

// ErrDetached says that following a run has ended while the run goes on.
var ErrDetached = errors.New("detached")

// Screen shows a run that is followed. waitsFor is what the run waits for; "": nothing.
type Screen interface {
	Update(s workflows.State, work map[string]Work, waitsFor string, now time.Time)
	Say(text string)
}

// Follow shows a run until it ends, whatever happens to connection and server: the run is durable. When ctx ends, it
// cancels the run and waits for that (the next interrupt ends the process) or, with leave, returns ErrDetached.
func (dr *Driver) Follow(ctx context.Context, conn *Connection, wf client.WorkflowRun, leave bool) (*workflows.ReproduceResult, error) {
	// The run outlives ctx while it is being cancelled.
	wctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	live, said, over := dr.Show()
	defer over()
	done := make(chan Outcome, 1)
	go func() { done <- AwaitEnd(wctx, wf) }()
	seen := make(chan Sight)
	go dr.Watch(wctx, conn, wf, seen)
	cancelled := ctx.Done()
	restarted := ""
	var now Sight
	at, ending := time.Now(), ""
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	show := func(v Sight) {
		if now, at = v, time.Now(); v.State.Restarted != restarted {
			restarted = v.State.Restarted
			live.Say("the run was started again: " + restarted)
		}
		live.Update(v.State, v.Work, cmp.Or(v.WaitsFor, ending), at)
	}
	for {
		select {
		case e := <-done:
			last, cancel := context.WithTimeout(wctx, 5*time.Second)
			defer cancel()
			if s, err := dr.State(last, conn.Client, wf.GetID()); err == nil {
				show(Sight{State: s})
			}
			return &e.Res, e.Err
		case v := <-seen:
			show(v)
		case <-clock.C:
			if unseen := time.Since(at); unseen > dr.Patience() {
				now.WaitsFor = "waiting for the run's state: its worker or the Temporal server is slow"
			} else if unseen < time.Second {
				continue
			}
			live.Update(now.State, now.Work, cmp.Or(now.WaitsFor, ending), time.Now())
		case text := <-said:
			live.Say(text)
		case <-cancelled:
			if leave {
				return nil, ErrDetached
			}
			cancelled, ending = nil, "waiting for running steps to stop"
			live.Say("cancelling; finished results are kept (Ctrl-C again to quit at once)")
			go dr.exitOnInterrupt(wctx)
			go CancelRun(wctx, conn.Client, wf)
		}
	}
}

// exitOnInterrupt ends the process, and the programs of its steps, at the next interrupt.
func (dr *Driver) exitOnInterrupt(ctx context.Context) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	defer signal.Stop(c)
	if again(ctx, c) {
		if dr.Scratch != nil {
			dr.Scratch.EndPrograms()
		}
		os.Exit(fault.CodeFailed)
	}
}

// again waits for a person's next interrupt; false: ctx has ended. Batch systems send several signals at once, so neither a
// SIGTERM counts nor an interrupt within a second.
func again(ctx context.Context, interrupts <-chan os.Signal) bool {
	for first := time.Now(); ; {
		select {
		case <-interrupts:
			if time.Since(first) >= time.Second {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}
