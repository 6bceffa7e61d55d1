package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/graph"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/livegraph"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/process"
	"github.com/redsi/redsi/workflows"
)

func GraphSteps(pl *plan.Plan) []graph.Step {
	return lists.Map(pl.Steps, func(s plan.Step) graph.Step { return graph.Step{Address: s.Address, Deps: s.Deps} })
}

const graphRuns = 50 // that the page lists, newest first

type graphs struct {
	dr    *Driver
	conn  *Connection
	store *artifacts.Resolver

	mu    sync.Mutex
	plan  artifacts.Digest // of steps and name, which are cached: pages reload
	steps []graph.Step
	name  string
}

func (g *graphs) Runs(ctx context.Context) ([]livegraph.Run, error) {
	list, err := g.conn.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Query: "WorkflowType = '" + workflows.ReproduceWorkflow + "'", PageSize: graphRuns})
	if err != nil {
		return nil, err
	}
	var runs []livegraph.Run
	for _, w := range list.Executions {
		if w.Status == enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
			continue
		}
		id := w.Execution.WorkflowId
		runs = append(runs, livegraph.Run{ID: id, Workflow: id, Pipeline: "run", Started: w.StartTime.AsTime(),
			Open: w.CloseTime == nil, URL: g.conn.RunURL(id, w.Execution.RunId)})
	}
	slices.SortFunc(runs, func(a, b livegraph.Run) int { return b.Started.Compare(a.Started) })
	return runs, nil
}

func (g *graphs) Picture(ctx context.Context, workflow string) (livegraph.Picture, error) {
	var p livegraph.Picture
	d, err := g.conn.Client.DescribeWorkflowExecution(ctx, workflow, "")
	if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		return p, fmt.Errorf("%w as %s at %s", livegraph.ErrNotFound, workflow, g.conn.Host)
	}
	if err != nil {
		return p, err
	}
	info := d.WorkflowExecutionInfo
	state, err := g.dr.State(ctx, g.conn.Client, workflow)
	if err != nil {
		return p, err
	}
	if state.Plan.IsZero() {
		return p, errors.New("the run is loading its plan")
	}
	steps, name, err := g.stepsOf(ctx, state.Plan)
	if err != nil {
		return p, err
	}
	p.Run = livegraph.Run{ID: state.RunID, Workflow: workflow, Pipeline: name, Started: info.StartTime.AsTime(),
		Open: info.CloseTime == nil, URL: g.conn.RunURL(workflow, info.Execution.RunId)}
	p.Steps, p.Outcomes = steps, make([]string, len(steps))
	for _, s := range state.Steps {
		if s.Index < len(p.Outcomes) {
			p.Outcomes[s.Index] = string(s.Status)
		}
	}
	return p, nil
}

func (g *graphs) stepsOf(ctx context.Context, d artifacts.Digest) ([]graph.Step, string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.plan != d {
		pl, err := plan.Read(ctx, g.store, d)
		if err != nil {
			return nil, "", err
		}
		g.plan, g.steps, g.name = d, GraphSteps(pl), pl.Pipeline
	}
	return g.steps, g.name, nil
}

// graphPage says where the graphs of a state folder's runs are served, and by which process.
type graphPage struct {
	URL     string           `json:"url"`
	Process process.Identity `json:"process"`
}

func (dr *Driver) graphPageFile() string { return filepath.Join(dr.StateDir, "graphs.json") }

// pageOfGraphs is its address; "" if it is not served now.
func (dr *Driver) pageOfGraphs() string {
	b, err := os.ReadFile(dr.graphPageFile())
	var p graphPage
	if err != nil || json.Unmarshal(b, &p) != nil || !p.Process.Running() {
		return ""
	}
	return p.URL
}

// ListenForGraphs listens on a local port, this one if it is free, and records the page in the state folder for runs' links.
func (dr *Driver) ListenForGraphs(port int) (net.Listener, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, err
	}
	p := graphPage{URL: "http://" + l.Addr().String()}
	if p.Process, err = process.Self(); err == nil {
		err = atomicfile.WriteJSON(dr.graphPageFile(), p, "", 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// ServeGraphs answers until ctx ends.
func (dr *Driver) ServeGraphs(ctx context.Context, l net.Listener, conn *Connection, store *artifacts.Resolver) {
	s := &http.Server{Handler: livegraph.Handler(&graphs{dr: dr, conn: conn, store: store}, dr.Log), ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
	go func() {
		<-ctx.Done()
		_ = s.Close()
		_ = os.Remove(dr.graphPageFile())
	}()
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			dr.Log.Warn("the graphs of runs are no longer served", "err", err)
		}
	}()
}
