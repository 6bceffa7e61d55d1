package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/session/pilots"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Bounds of the questions to runs.
const (
	answerWithin = time.Second // for all open runs together
	askedAtOnce  = 100         // open runs
	readAtOnce   = 16          // records
)

type Report struct {
	Server    string       `json:"server,omitempty"`    // "" if none is running
	Elsewhere string       `json:"elsewhere,omitempty"` // which other machine runs the server of this state folder, and what to do
	Running   []Run        `json:"running"`
	Pilots    []pilots.Sum `json:"pilots,omitempty"` // of Slurm
	Ended     []Ended      `json:"ended,omitempty"`  // newest first
}

// Run is an open run. Of very many running or failed steps it lists some; Counts counts all.
type Run struct {
	RunID    string              `json:"run"`
	Workflow string              `json:"workflow"`
	URL      string              `json:"url"`
	Started  time.Time           `json:"started"`
	Counts   map[runs.Status]int `json:"counts"`
	Steps    []Step              `json:"steps,omitempty"`    // running and failed
	Priority int                 `json:"priority,omitempty"` // 0: unknown, or the server's default
	LeftS    float64             `json:"left_s,omitempty"`   // at least, as running steps report; 0: unknown
	Error    string              `json:"error,omitempty"`    // why its state is unknown
}

type Step struct {
	Address  string         `json:"address"`
	Status   runs.Status    `json:"status"`
	Progress *step.Progress `json:"progress,omitempty"`
	Error    string         `json:"error,omitempty"`
	Worker   string         `json:"worker,omitempty"` // host and batch job of the process that runs it, unless they are this process's
}

type Ended struct {
	RunID    string              `json:"run"`
	Pipeline string              `json:"pipeline"`
	Targets  []string            `json:"targets,omitempty"`
	Counts   map[runs.Status]int `json:"counts"`
	Failed   []Step              `json:"failed,omitempty"`
}

// Tally is how many steps have each status, as text.
func Tally(n map[runs.Status]int) string {
	all := []runs.Status{runs.Hit, runs.Ran, runs.Running, runs.Queued, runs.Waiting, runs.Failed, runs.Skipped, runs.Cancelled, runs.NotStarted}
	list := lists.Map(all, func(s runs.Status) words.Number { return words.Number{N: n[s], Of: string(s)} })
	return cmp.Or(strings.Join(words.Counts(list...), ", "), "loading")
}

// Running connects to the running server, which stays until the connection is closed; nil: there is none.
func (dr *Driver) Running(ctx context.Context, o Cluster, r *Report) (*Connection, error) {
	if o.Given() {
		conn, err := dr.Dial(ctx, o)
		if err == nil {
			r.Server = conn.Host
		}
		return conn, err
	}
	dir := dr.serverDir()
	codec, err := o.Codec()
	if err != nil {
		return nil, err
	}
	server, err := devserver.Visit(ctx, dir)
	if server == nil {
		if r.Elsewhere = devserver.Elsewhere(dir); r.Elsewhere != "" {
			err = nil
		}
		return nil, denied(err)
	}
	conn := &Connection{UI: server.UI, Namespace: "default", Codec: codec, Server: server}
	opts, err := devserver.LookOptions(dir, server.Info)
	if err != nil {
		conn.Close()
		return nil, err
	}
	opts.Logger = log.NewStructuredLogger(dr.sdkLog())
	dctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if conn.Client, err = client.DialContext(dctx, Sealed(opts, codec)); err != nil {
		conn.Close()
		if ctx.Err() == nil {
			condition := devserver.Condition(dir)
			if r.Elsewhere = devserver.Elsewhere(dir); r.Elsewhere != "" { // it says all that is known
				condition = "it runs on another machine"
			}
			dr.Log.Warn("the Temporal server does not answer", "condition", condition, "err", err)
		}
		return nil, ctx.Err()
	}
	r.Server = server.Address
	return conn, nil
}

func (dr *Driver) OpenRuns(ctx context.Context, conn *Connection, r *Report) error {
	open, err := ListOpen(ctx, conn.Client)
	if err != nil {
		return err
	}
	r.Running = dr.askAll(ctx, conn, open)
	return nil
}

func (dr *Driver) askAll(ctx context.Context, conn *Connection, open []*workflow.WorkflowExecutionInfo) []Run {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	out := make([]Run, len(open))
	var asking errgroup.Group
	asking.SetLimit(askedAtOnce)
	for i, w := range open {
		asking.Go(func() error {
			out[i] = dr.ask(ctx, conn, w)
			return nil
		})
	}
	_ = asking.Wait() // no error
	return out
}

// ask asks an open run for its counts and first running steps: a bounded answer.
func (dr *Driver) ask(ctx context.Context, conn *Connection, w *workflow.WorkflowExecutionInfo) Run {
	s := openRun(conn, w)
	state, err := workflows.Ask[workflows.State](ctx, conn.Client, s.Workflow, workflows.StateQuery)
	if err != nil {
		if s.Error = "its state is not available: " + err.Error(); ctx.Err() != nil {
			s.Error = "does not answer: no worker polls for it, or it is busy (--run waits longer)"
		}
		return s
	}
	s.name(state.RunID)
	s.Counts = state.Counts
	dr.fill(ctx, conn, &s, state.Steps)
	return s
}

func openRun(conn *Connection, w *workflow.WorkflowExecutionInfo) Run {
	id := w.Execution.WorkflowId
	return Run{Workflow: id, URL: conn.RunURL(id, w.Execution.RunId), Started: w.StartTime.AsTime(), Counts: map[runs.Status]int{}}
}

// name records which run it is. A run of many steps continues in further executions, so it may have started earlier.
func (s *Run) name(id string) {
	s.RunID = id
	if at, ok := workflows.RunBegan(id); ok && at.Before(s.Started) {
		s.Started = at
	}
}

func (dr *Driver) fill(ctx context.Context, conn *Connection, s *Run, steps []workflows.StepState) {
	if s.Counts == nil { // it is loading its plan
		s.Counts = map[runs.Status]int{}
	}
	if d, err := conn.Client.DescribeWorkflowExecution(ctx, s.Workflow, ""); err == nil { // else it has just ended
		s.Priority = int(d.GetWorkflowExecutionInfo().GetPriority().GetPriorityKey())
	}
	seen := dr.looks(ctx, conn, s.Workflow, slices.DeleteFunc(slices.Clone(steps), func(x workflows.StepState) bool { return x.Status != runs.Running }))
	for _, x := range steps {
		if x.Status != runs.Running && x.Status != runs.Failed {
			continue
		}
		one := Step{Address: x.Address, Status: x.Status, Error: x.Error}
		switch k, ok := seen[x.Address]; {
		case ok && k.begun:
			one.Progress, one.Worker = &k.work.Progress, k.work.Worker
			s.LeftS = max(s.LeftS, k.work.Progress.LeftS)
		case ok:
			one.Status = runs.Queued
			s.Counts[runs.Running]--
			s.Counts[runs.Queued]++
		}
		s.Steps = append(s.Steps, one)
	}
}

// StatusOfOne finds a run by the beginning of its id, open or ended, and shows it in full.
func (dr *Driver) StatusOfOne(ctx context.Context, store artifacts.Store, conn *Connection, id string, r *Report) error {
	if conn != nil {
		open, err := ListOpen(ctx, conn.Client)
		if err != nil {
			return err
		}
		found, err := dr.Named(ctx, conn, open, id)
		if err != nil {
			return err
		}
		if found != nil {
			s := openRun(conn, found)
			state, err := dr.State(ctx, conn.Client, s.Workflow)
			if err != nil {
				s.Error = "its state is not available: " + err.Error()
			}
			s.name(state.RunID)
			for _, x := range state.Steps {
				s.Counts[x.Status]++
			}
			dr.fill(ctx, conn, &s, state.Steps)
			r.Running = append(r.Running, s)
			return nil
		}
	}
	rec, err := dr.FindRun(ctx, store, id)
	if err == nil {
		r.Ended = []Ended{EndedOf(rec)}
	}
	return err
}

// Named finds the open run whose id or workflow has that prefix; nil if there is none.
func (dr *Driver) Named(ctx context.Context, conn *Connection, open []*workflow.WorkflowExecutionInfo, id string) (*workflow.WorkflowExecutionInfo, error) {
	found := lists.Filter(open, func(w *workflow.WorkflowExecutionInfo) bool {
		x := w.Execution.WorkflowId
		return strings.HasPrefix(x, id) || strings.HasPrefix(x, workflows.ReproduceWorkflowID(id))
	})
	if len(found) == 0 { // a run that other programs started tells its id only when asked
		for i, s := range dr.askAll(ctx, conn, open) {
			if s.RunID != "" && strings.HasPrefix(s.RunID, id) {
				found = append(found, open[i])
			}
		}
	}
	if len(found) > 1 {
		names := lists.Map(found, func(w *workflow.WorkflowExecutionInfo) string { return w.Execution.WorkflowId })
		return nil, fault.Input(fmt.Errorf("%q could be %s", id, strings.Join(names, " or ")))
	}
	if len(found) == 0 {
		return nil, nil
	}
	return found[0], nil
}

// ListOpen lists the open runs.
func ListOpen(ctx context.Context, c client.Client) ([]*workflow.WorkflowExecutionInfo, error) {
	open, err := listRunning(ctx, c, fmt.Sprintf("WorkflowType = '%s'", workflows.ReproduceWorkflow))
	if err != nil {
		return nil, fmt.Errorf("list the open workflows: %w", err)
	}
	return open, nil
}

// listRunning lists the open workflows that a query is true of.
func listRunning(ctx context.Context, c client.Client, query string) (open []*workflow.WorkflowExecutionInfo, err error) {
	req := &workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000, Query: "CloseTime IS NULL AND " + query} // paused workflows, too
	for {
		page, err := c.ListWorkflow(ctx, req)
		if err != nil {
			return nil, err
		}
		open = append(open, page.Executions...)
		if req.NextPageToken = page.NextPageToken; len(req.NextPageToken) == 0 {
			return open, nil
		}
	}
}

// EndedRuns reads the newest recorded runs of this project, or without a project of all, newest first.
func (dr *Driver) EndedRuns(ctx context.Context, store artifacts.Store, most int) (ended []Ended, err error) {
	ids, err := runs.IDs(ctx, store)
	if err != nil {
		return nil, err
	}
	project := dr.Project()
	slices.Reverse(ids)
	for chunk := range slices.Chunk(ids, readAtOnce) {
		if len(ended) >= most {
			break
		}
		read := make([]*Ended, len(chunk))
		g, gctx := errgroup.WithContext(ctx)
		for i, id := range chunk {
			g.Go(func() error {
				rec, err := runs.ReadHead(gctx, store, id)
				if err == nil && !journal.OfProject(rec, project) {
					return nil
				}
				if err == nil && rec.Counts[runs.Failed] > 0 { // else there is nothing to add
					rec, err = runs.Read(gctx, store, id)
				}
				if _, ok := errors.AsType[*runs.DamagedError](err); ok {
					dr.Log.Warn("a run is left out", "err", err)
					return nil
				}
				if err == nil {
					read[i] = new(EndedOf(rec))
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		for _, x := range read {
			if x != nil && len(ended) < most {
				ended = append(ended, *x)
			}
		}
	}
	return ended, nil
}

func EndedOf(rec *runs.Record) Ended {
	failed := lists.Filter(rec.Steps, func(s runs.Step) bool { return s.Outcome == runs.Failed })
	ended := func(s runs.Step) Step { return Step{Address: s.Address, Status: s.Outcome, Error: s.Error} }
	return Ended{RunID: rec.RunID, Pipeline: rec.Pipeline, Targets: rec.Targets, Counts: rec.Counts, Failed: lists.Map(failed, ended)}
}
