package drive

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

// Embed uses the state folder's server, started if needed, with a worker of its own.
func (dr *Driver) Embed(ctx context.Context, o Cluster, store *artifacts.Resolver) (*Connection, error) {
	codec, err := o.Codec()
	if err != nil {
		return nil, err
	}
	program, err := devserver.Find()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dr.serverDir())
	if err != nil {
		return nil, err
	}
	began := time.Now()
	conn := &Connection{Namespace: "default", Codec: codec, state: dr.StateDir}
	dial := func(ctx context.Context, s *devserver.Server) error {
		opts, err := s.ClientOptions()
		if err != nil {
			return err
		}
		opts.Logger, opts.Identity, opts.WorkerHeartbeatInterval = log.NewStructuredLogger(dr.sdkLog()), identity(), beatEvery
		conn.Server = s
		return dr.Persist(ctx, conn, "the connection to Temporal", func(ctx context.Context) (err error) {
			conn.Client, err = client.DialContext(ctx, dr.telemetry.Client(Sealed(opts, codec)))
			return err
		})
	}
	conn.Server, err = devserver.Join(ctx, devserver.Options{Program: program, Dir: dir, Port: o.Port, UIPort: o.UIPort, Strict: o.Strict, Listen: o.Listen,
		SearchAttributes: workflows.SearchAttributes(), Say: dr.Say,
		First: func(ctx context.Context, s *devserver.Server) error {
			if err := dial(ctx, s); err != nil {
				return err
			}
			return dr.Persist(ctx, conn, "the end of earlier runs", func(ctx context.Context) error { return dr.endLeftovers(ctx, conn.Client, began) })
		}})
	switch {
	case errors.Is(err, devserver.ErrPort):
		flag := "--ui-port"
		if o.Port != 0 {
			flag = "--port or --ui-port"
		}
		err = fault.Input(fmt.Errorf("%w; choose another with %s; 0 picks a free one", err, flag))
	case errors.Is(err, devserver.ErrOther):
		err = fault.Input(fmt.Errorf("%w; omit the flags of ports and --listen to use it, or stop the redsi processes that use it", err))
	case errors.Is(err, devserver.ErrElsewhere):
		err = fault.Input(err)
	case errors.Is(err, devserver.ErrListen):
		err = fault.Input(fmt.Errorf("--listen: %w: give one of these, or a name of one", err))
	case errors.Is(err, devserver.ErrDir):
		err = fault.Input(fmt.Errorf("--state: %w; name another folder", err))
	default:
		err = denied(err)
	}
	if err == nil && conn.Client == nil {
		err = dial(ctx, conn.Server)
	}
	if err == nil {
		conn.UI, conn.Host = conn.Server.UI, conn.Server.Address
		acts := dr.Activities(store, conn, workflows.Features{SearchAttributes: true, Page: dr.pageOfGraphs()})
		acts.Accept, acts.OnlyWorker, acts.Told = o.Accept, conn.Server.Listen == "", told(ctx)
		err = dr.Persist(ctx, conn, "the start of the worker", func(context.Context) error {
			of := o.own()
			of.Base, of.Head = conn.Queue(store.Own), dr.head(o)
			w := worker.New(conn.Client, acts, of)
			if err := w.Start(); err != nil {
				return err
			}
			conn.worker = w
			return nil
		})
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// Stays marks, in its memo, a run that outlives the process that started it: other machines may have its workers.
const Stays = "redsi.stays"

// stays is the memo of a run that is started by conn.
func (c *Connection) stays() map[string]any {
	if c.Server != nil && c.Server.Listen == "" {
		return nil
	}
	return map[string]any{Stays: true}
}

// endLeftovers ends what killed processes left open on their embedded server, except runs that are marked: the caller is the folder's
// only process on this machine, so only workers of marked runs can be alive, and the store has what the others finished. What other
// clients have started since began stays, too.
func (dr *Driver) endLeftovers(ctx context.Context, c client.Client, began time.Time) error {
	open, err := listRunning(ctx, c, fmt.Sprintf("StartTime < '%s'", began.UTC().Format(time.RFC3339Nano)))
	if err != nil {
		return fmt.Errorf("list what an earlier run left open: %w", err)
	}
	stay := map[string]bool{}
	for _, w := range open {
		if w.GetMemo().GetFields()[Stays] != nil {
			stay[w.Execution.WorkflowId] = true
		}
	}
	for _, w := range open {
		if stay[w.Execution.WorkflowId] || stay[w.GetRootExecution().GetWorkflowId()] {
			continue
		}
		if err := c.TerminateWorkflow(ctx, w.Execution.WorkflowId, w.Execution.RunId, "the process that ran this ended"); err != nil {
			dr.Log.Debug("leftover workflow", "id", w.Execution.WorkflowId, "err", err)
		}
	}
	return nil
}
