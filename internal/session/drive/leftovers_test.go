package drive

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/devserver/devservertest"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/readers"
)

// TestEndLeftovers: what a killed process left open is ended, but for runs that may have workers elsewhere: these stay with their
// children, also once they have continued as new.
func TestEndLeftovers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	program, err := devserver.Find()
	errtest.None(t, err)
	server, err := devservertest.Start(ctx, devserver.Options{Program: program})
	errtest.None(t, err)
	t.Cleanup(server.Stop)
	opts, err := server.ClientOptions()
	errtest.None(t, err)
	opts.Logger = log.NewStructuredLogger(slog.New(slog.DiscardHandler))
	c, err := client.DialContext(ctx, opts)
	errtest.None(t, err)
	t.Cleanup(c.Close)
	w := sdk.New(c, "q", sdk.Options{})
	child := func(ctx workflow.Context) error { return workflow.Await(ctx, func() bool { return false }) }
	w.RegisterWorkflowWithOptions(child, workflow.RegisterOptions{Name: "child"})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, again bool) error {
		if again {
			return workflow.NewContinueAsNewError(ctx, "parent", false)
		}
		id := workflow.GetInfo(ctx).WorkflowExecution.ID + "/child"
		return workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: id}), "child").Get(ctx, nil)
	}, workflow.RegisterOptions{Name: "parent"})
	errtest.None(t, w.Start())
	t.Cleanup(w.Stop)
	for id, conn := range map[string]*Connection{
		"own": {Server: &devserver.Server{}}, "listening": {Server: &devserver.Server{Info: devserver.Info{Listen: "127.0.0.2"}}}, "cluster's": {},
	} {
		errtest.None(t, errtest.Of(c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: "q", Memo: conn.stays()}, "parent", true)))
	}
	dr := &Driver{Session: &session.Session{Log: slog.New(slog.DiscardHandler)}}
	for {
		open, err := listRunning(ctx, c, "WorkflowId != ''")
		errtest.None(t, err)
		if len(open) == 6 {
			break
		}
		errtest.None(t, readers.Pause(ctx, 20*time.Millisecond))
	}
	w.Stop() // a parent would fail when its child is ended, before it is ended itself
	errtest.None(t, dr.endLeftovers(ctx, c, time.Now()))
	for id, want := range map[string]enums.WorkflowExecutionStatus{
		"own": enums.WORKFLOW_EXECUTION_STATUS_TERMINATED, "own/child": enums.WORKFLOW_EXECUTION_STATUS_TERMINATED,
		"listening": enums.WORKFLOW_EXECUTION_STATUS_RUNNING, "listening/child": enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
		"cluster's": enums.WORKFLOW_EXECUTION_STATUS_RUNNING, "cluster's/child": enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
	} {
		d, err := c.DescribeWorkflowExecution(ctx, id, "")
		if err != nil || d.WorkflowExecutionInfo.Status != want {
			t.Errorf("%s is %s, %v; want %s", id, d.GetWorkflowExecutionInfo().GetStatus(), err, want)
		}
	}
}
