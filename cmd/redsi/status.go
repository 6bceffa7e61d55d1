package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/devserver"
	"github.com/redsi/redsi/internal/step"
	"github.com/redsi/redsi/internal/view"
	"github.com/redsi/redsi/workflows"
)

// statusReport is the answer of status.
type statusReport struct {
	Server  string       `json:"server,omitempty"` // "" if none is up
	Running []runStatus  `json:"running"`
	Steps   []stepStatus `json:"other_steps,omitempty"` // work that no open run waits for any more, or a cluster's other users
	Last    *lastRun     `json:"last,omitempty"`
}

// runStatus is an open run.
type runStatus struct {
	RunID    string                   `json:"run"`
	Workflow string                   `json:"workflow"`
	URL      string                   `json:"url"`
	Started  time.Time                `json:"started"`
	Counts   map[workflows.Status]int `json:"counts"`
	Steps    []stepStatus             `json:"steps,omitempty"` // those at work, and those that failed
}

type stepStatus struct {
	Address  string           `json:"address"`
	Status   workflows.Status `json:"status"`
	Progress *step.Progress   `json:"progress,omitempty"`
	Error    string           `json:"error,omitempty"`
}

// lastRun is what the newest run that ended came to.
type lastRun struct {
	RunID    string                   `json:"run"`
	Pipeline string                   `json:"pipeline"`
	Targets  []string                 `json:"targets,omitempty"`
	Counts   map[workflows.Status]int `json:"counts"`
	Failed   []stepStatus             `json:"failed,omitempty"`
}

func newStatusCmd(a *app) *cobra.Command {
	var o clusterOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the runs that are at work, how far their steps are, and what the last run came to",
		Long: `Show the runs that are at work, how far their steps are, and what the last run came to.

Looks at the cluster that the flags, the environment or a profile name, else at
the server that a ` + "`redsi run` or `redsi dev`" + ` of this state folder has started, if
one is up. It starts nothing.`,
		Example: `  redsi status
  redsi status --temporal-address 127.0.0.1:7233 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			store, err := a.openStore(ctx)
			if err != nil {
				return err
			}
			r := statusReport{Running: []runStatus{}}
			if r.Last, err = a.lastOf(ctx, store); err != nil {
				return err
			}
			conn, err := a.running(ctx, o, &r)
			if err != nil {
				return err
			}
			if conn != nil {
				defer conn.Client.Close()
				if err := a.openRuns(ctx, conn, &r); err != nil {
					return err
				}
			}
			if a.JSON {
				return view.WriteJSON(a.Out, r)
			}
			a.printStatus(r)
			return nil
		},
	}
	o.flags(cmd)
	return cmd
}

// running connects to a server that is up; nil if there is none.
func (a *app) running(ctx context.Context, o clusterOptions, r *statusReport) (*connection, error) {
	if o.given() {
		conn, err := a.dial(ctx, o)
		if err == nil {
			r.Server = conn.host
		}
		return conn, err
	}
	dir := filepath.Join(a.StateDir, "temporal")
	info, ok := devserver.Running(dir)
	if !ok {
		return nil, nil
	}
	codec, err := o.codec()
	if err != nil {
		return nil, err
	}
	opts, err := devserver.LookOptions(dir, info)
	if err != nil {
		return nil, err
	}
	opts.Logger = log.NewStructuredLogger(a.sdkLog())
	dctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c, err := client.DialContext(dctx, sealed(opts, codec))
	if err != nil {
		if ctx.Err() == nil {
			a.Log.Warn("the Temporal server does not answer", "condition", devserver.Condition(dir), "err", err)
		}
		return nil, ctx.Err()
	}
	r.Server = info.Address
	return &connection{Client: c, ui: info.UI, ns: "default", codec: codec}, nil
}

// openRuns lists open Reproduce workflows with their state, and open Step
// workflows that none of them waits for.
func (a *app) openRuns(ctx context.Context, conn *connection, r *statusReport) error {
	waited := map[string]bool{}
	err := listOpen(ctx, conn.Client, workflows.ReproduceWorkflow, func(id, run string, started time.Time) {
		s := runStatus{Workflow: id, URL: conn.runURL(id, run), Started: started, Counts: map[workflows.Status]int{}}
		state, err := a.state(ctx, conn.Client, id)
		if err != nil {
			a.Log.Warn("a run does not tell its state: no worker, or it is loading", "workflow", id, "err", err)
		}
		s.RunID = state.RunID
		progress := a.progress(ctx, conn, id, state)
		for _, x := range state.Steps {
			s.Counts[x.Status]++
			waited[x.Workflow] = true
			if x.Status != workflows.Running && x.Status != workflows.Failed {
				continue
			}
			one := stepStatus{Address: x.Address, Status: x.Status, Error: x.Error}
			if p, ok := progress[x.Address]; ok {
				one.Progress = &p
			}
			s.Steps = append(s.Steps, one)
		}
		r.Running = append(r.Running, s)
	})
	if err != nil {
		return err
	}
	return listOpen(ctx, conn.Client, workflows.StepWorkflow, func(id, _ string, _ time.Time) {
		if !waited[id] {
			r.Steps = append(r.Steps, stepStatus{Address: id, Status: workflows.Running})
		}
	})
}

func listOpen(ctx context.Context, c client.Client, kind string, each func(id, run string, started time.Time)) error {
	req := &workflowservice.ListWorkflowExecutionsRequest{PageSize: 100,
		Query: fmt.Sprintf("ExecutionStatus = 'Running' AND WorkflowType = '%s'", kind)}
	for {
		page, err := c.ListWorkflow(ctx, req)
		if err != nil {
			return fmt.Errorf("list the open workflows: %w", err)
		}
		for _, w := range page.Executions {
			each(w.Execution.WorkflowId, w.Execution.RunId, w.StartTime.AsTime())
		}
		if req.NextPageToken = page.NextPageToken; len(req.NextPageToken) == 0 {
			return nil
		}
	}
}

// lastOf is the newest run of this project that the store remembers; nil if it
// remembers none at all.
func (a *app) lastOf(ctx context.Context, store artifacts.Store) (*lastRun, error) {
	ids, err := runIDs(ctx, store)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	rec, _, err := a.lastRun(ctx, store, ids, 0)
	if err != nil || rec == nil {
		return nil, err
	}
	l := &lastRun{RunID: rec.RunID, Pipeline: rec.Pipeline, Targets: rec.Targets, Counts: map[workflows.Status]int{}}
	for _, s := range rec.Steps {
		l.Counts[s.Outcome]++
		if s.Outcome == workflows.Failed {
			l.Failed = append(l.Failed, stepStatus{Address: s.Address, Status: s.Outcome, Error: s.Error})
		}
	}
	return l, nil
}

func (a *app) printStatus(r statusReport) {
	st := a.style(a.Out)
	if r.Server == "" {
		view.Println(a.Out, "no run is at work: no server is up")
	} else if len(r.Running) == 0 {
		view.Printf(a.Out, "no run is at work at %s\n", r.Server)
	}
	for _, x := range r.Running {
		view.Printf(a.Out, "%s  %s, for %s\n       %s\n", st.Bold(x.RunID), tally(x.Counts), view.Seconds(time.Since(x.Started)), x.URL)
		for _, s := range x.Steps {
			note := view.Lines(s.Error)
			if s.Progress != nil {
				note = view.Lines(view.Progress(*s.Progress, 0))
			}
			view.Printf(a.Out, "%s  %s  %s\n", st.Outcome(string(s.Status), strings.ToUpper(string(s.Status))), s.Address, note)
		}
	}
	for _, s := range r.Steps {
		view.Printf(a.Out, "at work for no open run: %s\n", s.Address)
	}
	if r.Last == nil {
		view.Println(a.Out, "this store remembers no run")
		return
	}
	view.Printf(a.Out, "last run: %s of %s, %s\n", r.Last.RunID, r.Last.Pipeline, tally(r.Last.Counts))
	for _, s := range r.Last.Failed {
		view.Printf(a.Out, "%s  %s  %s\n", st.Outcome("failed", "FAILED"), s.Address, view.Lines(s.Error))
	}
}

// tally prints how many steps have each status.
func tally(n map[workflows.Status]int) string {
	var words []string
	for _, s := range []workflows.Status{workflows.Hit, workflows.Ran, workflows.Running, workflows.Waiting, workflows.Failed, workflows.Skipped, workflows.NotStarted} {
		if n[s] > 0 {
			words = append(words, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	if len(words) == 0 {
		return "loading"
	}
	return strings.Join(words, ", ")
}
