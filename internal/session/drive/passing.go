package drive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/internal/system/readers"
)

// passing reports whether a call to Temporal may succeed later: its error is about the connection or a busy server.
func passing(err error) bool {
	lasting := []any{new(*temporal.WorkflowExecutionError), new(*payload.Error), new(*serviceerror.NotFound), new(*serviceerror.InvalidArgument),
		new(*serviceerror.PermissionDenied), new(*serviceerror.Unimplemented), new(*serviceerror.QueryFailed), new(*serviceerror.WorkflowExecutionAlreadyStarted)}
	return !slices.ContainsFunc(lasting, func(kind any) bool { return errors.As(err, kind) })
}

// startPatience is how long starting a run is tried, and reading what it has left.
const startPatience = time.Minute

// Outlast calls read, which reads what a run has left, until the store answers, at most for startPatience.
func (dr *Driver) Outlast(ctx context.Context, read func() error) error {
	for began, told := time.Now(), false; ; told = true {
		err := read()
		if _, away := errors.AsType[*artifacts.AwayError](err); !away || ctx.Err() != nil || time.Since(began) > startPatience {
			return err
		}
		if !told {
			dr.Say("the run has ended; waiting for the store: " + err.Error())
		}
		_ = readers.Pause(ctx, 200*time.Millisecond)
	}
}

// Persist calls f until it succeeds or fails for good, at most for startPatience, and tells after a while: a server that has
// just started may not know its namespace yet.
func (dr *Driver) Persist(ctx context.Context, conn *Connection, what string, f func(context.Context) error) error {
	began, told := time.Now(), time.Time{}
	for {
		one, cancel := context.WithTimeout(ctx, 20*time.Second)
		err := f(one)
		cancel()
		if err == nil || ctx.Err() != nil || !passing(err) || time.Since(began) > startPatience {
			return err
		}
		if time.Since(began) > dr.Delays.Unseen && time.Since(told) > dr.Delays.Say {
			told = time.Now()
			dr.Say("retrying " + what + ": " + err.Error() + " (" + conn.condition() + ")")
		}
		_ = readers.Pause(ctx, 200*time.Millisecond)
	}
}

// Polled reports whether a worker (of a build, unless nil) polls a queue. The server remembers a poller for five minutes, unless the
// poller says that it ends.
func (dr *Driver) Polled(ctx context.Context, conn *Connection, queue string, kind enums.TaskQueueType, of *deployment.WorkerDeploymentVersion) (bool, error) {
	d, err := conn.Client.DescribeTaskQueue(ctx, queue, kind)
	if err != nil || len(d.GetPollers()) == 0 {
		return false, err
	}
	lost := map[string]bool{}
	r, err := conn.Client.WorkflowService().ListWorkers(ctx, &workflowservice.ListWorkersRequest{Namespace: conn.Namespace,
		Query: fmt.Sprintf("TaskQueue = '%s' AND WorkerStatus = 'Running' AND HeartbeatTime < '%s'", queue, time.Now().Add(-dr.Delays.Lost).UTC().Format(time.RFC3339Nano))})
	if err != nil {
		dr.Log.Debug("the server does not tell of its workers", "err", err) // an older one: they count for five minutes
	}
	for _, w := range r.GetWorkers() {
		lost[w.GetWorkerIdentity()] = true
	}
	for _, p := range d.GetPollers() {
		o := p.GetDeploymentOptions()
		if !lost[p.GetIdentity()] && (of == nil || o.GetDeploymentName() == of.GetDeploymentName() && o.GetBuildId() == of.GetBuildId()) {
			return true, nil
		}
	}
	return false, nil
}
