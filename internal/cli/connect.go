package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/host/telemetry"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

// clusterOptions says which Temporal cluster to use.
type clusterOptions struct {
	address, namespace, profile, ui string
	payloadKey                      string // file of keys
	port, uiPort                    int
	slots, threads                  int      // of the worker of this process
	strict                          bool     // the ports were asked for by the person
	embedded                        bool     // even if the environment names a cluster
	accept                          []string // folders of pipelines that the worker may be told to load
}

// flags are the flags of verbs that talk to an existing cluster.
func (o *clusterOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.address, "temporal-address", "", "HOST:PORT of an existing cluster (or set TEMPORAL_ADDRESS or a profile)")
	f.StringVar(&o.namespace, "temporal-namespace", "", "namespace there")
	f.StringVar(&o.profile, "temporal-profile", os.Getenv("TEMPORAL_PROFILE"), "profile of Temporal's own configuration file: address, TLS, API key")
	f.StringVar(&o.ui, "temporal-ui", os.Getenv("REDSI_TEMPORAL_UI"), "address of the cluster's web UI, for links")
	o.payloadFlag(cmd)
}

// payloadFlag is for verbs that send anything through Temporal.
func (o *clusterOptions) payloadFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.payloadKey, "payload-key", os.Getenv("REDSI_PAYLOAD_KEY"),
		"file of the keys that encrypt what Temporal stores about runs; every process of a run needs it")
}

// codec reads the keys.
func (o *clusterOptions) codec() (payload.Codec, error) {
	c, err := payload.Load(o.payloadKey)
	if err != nil {
		return c, fault.Input(fmt.Errorf("--payload-key (or REDSI_PAYLOAD_KEY): %w", err))
	}
	return c, nil
}

// metricsFlag is for verbs that run steps.
func (a *app) metricsFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.metricsAddress, "metrics-address", "",
		"serve Prometheus metrics at http://HOST:PORT/metrics; a PORT alone listens on this machine only (default: none)")
}

// startTelemetry serves metrics and sends traces, as flags and environment say, until the
// program ends.
func (a *app) startTelemetry(ctx context.Context) error {
	if a.telemetry != nil {
		return nil
	}
	t, err := telemetry.Start(ctx, telemetry.Options{Metrics: a.metricsAddress, Version: revision.Of(), Log: a.Log})
	if err != nil {
		return fault.Input(fmt.Errorf("--metrics-address: %w", err))
	}
	if a.telemetry = t; t.Address() != "" {
		a.Log.Info("metrics", "url", "http://"+t.Address()+"/metrics")
	}
	return nil
}

// sealed makes a client encrypt and decrypt with a codec.
func sealed(o client.Options, c payload.Codec) client.Options {
	o.DataConverter, o.FailureConverter = c.DataConverter(), workflows.Failures(c.FailureConverter())
	return o
}

// embedFlags are the flags of verbs that may start a server of their own.
func (o *clusterOptions) embedFlags(cmd *cobra.Command, uiPort int) {
	f := cmd.Flags()
	f.IntVar(&o.uiPort, "ui-port", uiPort, "port of the embedded server's web UI; 0: a free one")
	f.IntVar(&o.slots, "slots", 0, "steps at a time, without a cluster (default: cores)")
	f.IntVar(&o.threads, "threads", 0, threadsHelp)
}

const threadsHelp = "threads of a step that trains or evaluates (default: the cores that no other step uses, at least half of all)"

// checkShare refuses numbers that no worker can have, or that are meant for another worker.
func (o *clusterOptions) checkShare() error {
	switch {
	case o.slots < 0 || o.threads < 0:
		return fault.Input(errors.New("--slots and --threads cannot be negative"))
	case o.given() && (o.slots > 0 || o.threads > 0):
		return fault.Input(errors.New("--slots and --threads configure this command's own worker, but the run uses the cluster's workers: give them to those"))
	}
	return nil
}

// given reports whether a cluster was named.
func (o *clusterOptions) given() bool {
	return !o.embedded && (o.address != "" || o.profile != "" || os.Getenv("TEMPORAL_ADDRESS") != "")
}

// connection is a client, and what this process runs for it.
type connection struct {
	Client client.Client
	ui     string
	ns     string
	host   string        // host:port
	codec  payload.Codec // of its payloads
	worker *worker.Worker
	server *devserver.Server // of the state folder; nil with a cluster
}

// Close stops the worker and the client. The server ends when no process uses it any more.
func (c *connection) Close() {
	if c.worker != nil {
		c.worker.Stop()
	}
	if c.Client != nil {
		c.Client.Close()
	}
	if c.server != nil {
		c.server.Close()
	}
}

// condition says in words what is known about the server.
func (c *connection) condition() string {
	if c.server != nil {
		return c.server.Condition()
	}
	return "the cluster at " + c.host
}

func (c *connection) runURL(workflowID, runID string) string {
	if c.ui == "" {
		return "workflow " + workflowID
	}
	return fmt.Sprintf("%s/namespaces/%s/workflows/%s/%s", c.ui, c.ns, url.PathEscape(workflowID), runID)
}

// otherStore says what to do if the cluster's workers have a different store from this
// command's.
func (a *app) otherStore(ours, theirs string) string {
	if ours == theirs {
		return fmt.Sprintf("This command and the cluster's workers both use the store %s, but it is a different folder on their machine: use a store that both can reach, such as a bucket", ours)
	}
	args := slices.Clone(a.cmd.Flags().Args())
	if targets := a.cmd.Flags().Lookup("target"); targets != nil {
		args = append(args, targetArgs(values(targets))...)
	}
	return fmt.Sprintf("This command uses the store %s, the cluster's workers use %s. Use theirs: `%s`; or start them with yours: `%s`",
		ours, theirs, a.hint(a.cmd.Name(), append(args, "--store", theirs)...), a.hint("worker", "--store", ours))
}

// connect dials the cluster that was named, or starts an embedded one.
func (a *app) connect(ctx context.Context, o clusterOptions, store artifacts.Store) (*connection, error) {
	if err := o.checkShare(); err != nil {
		return nil, err
	}
	if o.given() {
		defer a.waiting("waiting for the Temporal cluster")()
		return a.dial(ctx, o)
	}
	defer a.waiting("starting Temporal")()
	return a.embed(ctx, o, store)
}

func (a *app) dial(ctx context.Context, o clusterOptions) (*connection, error) {
	codec, err := o.codec()
	if err != nil {
		return nil, err
	}
	opts, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{ConfigFileProfile: o.profile})
	if err != nil {
		return nil, fault.Input(fmt.Errorf("Temporal profile: %w", err))
	}
	if o.address != "" {
		opts.HostPort = o.address
	}
	if o.namespace != "" {
		opts.Namespace = o.namespace
	}
	if opts.Namespace == "" {
		opts.Namespace = "default"
	}
	opts.Logger = log.NewStructuredLogger(a.sdkLog())
	c, err := client.DialContext(ctx, a.telemetry.Client(sealed(opts, codec)))
	if err != nil {
		return nil, fmt.Errorf("Temporal at %s: %w", opts.HostPort, err)
	}
	return &connection{Client: c, ui: o.ui, ns: opts.Namespace, host: opts.HostPort, codec: codec}, nil
}

// embed uses the server of the state folder, starting it if needed, and adds a worker of its
// own.
func (a *app) embed(ctx context.Context, o clusterOptions, store artifacts.Store) (*connection, error) {
	codec, err := o.codec()
	if err != nil {
		return nil, err
	}
	program, err := devserver.Find()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Join(a.StateDir, "temporal"))
	if err != nil {
		return nil, err
	}
	began := time.Now()
	conn := &connection{ns: "default", codec: codec}
	dial := func(ctx context.Context, s *devserver.Server) error {
		opts, err := s.ClientOptions()
		if err != nil {
			return err
		}
		opts.Logger = log.NewStructuredLogger(a.sdkLog())
		conn.server = s
		return a.persist(ctx, conn, "the connection to Temporal", func(ctx context.Context) (err error) {
			conn.Client, err = client.DialContext(ctx, a.telemetry.Client(sealed(opts, codec)))
			return err
		})
	}
	conn.server, err = devserver.Join(ctx, devserver.Options{Program: program, Dir: dir, Port: o.port, UIPort: o.uiPort, Strict: o.strict,
		SearchAttributes: workflows.SearchAttributes(), Say: a.say,
		First: func(ctx context.Context, s *devserver.Server) error {
			if err := dial(ctx, s); err != nil {
				return err
			}
			return a.persist(ctx, conn, "the end of earlier runs", func(ctx context.Context) error { return a.endLeftovers(ctx, conn.Client, began) })
		}})
	switch {
	case errors.Is(err, devserver.ErrPort):
		flag := "--ui-port"
		if o.port != 0 {
			flag = "--port or --ui-port"
		}
		err = fault.Input(fmt.Errorf("%w; choose another with %s; 0 picks a free one", err, flag))
	case errors.Is(err, devserver.ErrOther):
		err = fault.Input(fmt.Errorf("%w; omit the port flags to use it, or stop the redsi processes that use it", err))
	case errors.Is(err, devserver.ErrDir):
		err = fault.Input(fmt.Errorf("--state: %w; name another folder", err))
	case errors.Is(err, fs.ErrPermission):
		err = fault.Input(fmt.Errorf("--state: %w: name a writable folder", err))
	}
	if err == nil && conn.Client == nil {
		err = dial(ctx, conn.server)
	}
	if err == nil {
		conn.ui, conn.host = conn.server.UI, conn.server.Address
		acts := a.activities(store, conn, workflows.Features{SearchAttributes: true, Page: a.pageOfGraphs()})
		acts.Accept = o.accept
		err = a.persist(ctx, conn, "the start of the worker", func(context.Context) error {
			w := worker.New(conn.Client, acts, worker.Options{CPU: o.slots, Threads: o.threads})
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

// endLeftovers ends what killed processes left open on their embedded server: the caller is
// the folder's only process, so none of their workers can be alive, and the store has all
// that they finished. What other clients have started since is left alone.
func (a *app) endLeftovers(ctx context.Context, c client.Client, began time.Time) error {
	req := &workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000,
		Query: fmt.Sprintf("ExecutionStatus = 'Running' AND StartTime < '%s'", began.UTC().Format(time.RFC3339Nano))}
	for {
		page, err := c.ListWorkflow(ctx, req)
		if err != nil {
			return fmt.Errorf("list what an earlier run left open: %w", err)
		}
		for _, w := range page.Executions {
			if err := c.TerminateWorkflow(ctx, w.Execution.WorkflowId, w.Execution.RunId, "the process that ran this ended"); err != nil {
				a.Log.Debug("leftover workflow", "id", w.Execution.WorkflowId, "err", err)
			}
		}
		if req.NextPageToken = page.NextPageToken; len(req.NextPageToken) == 0 {
			return nil
		}
	}
}

// activities are those of this process; conn is nil for work without a server, such as that
// of `force` and `verify --rebuild`.
func (a *app) activities(store artifacts.Store, conn *connection, features workflows.Features) *activities.Activities {
	if conn == nil {
		conn = &connection{}
	}
	acts := &activities.Activities{
		Store: store, Leases: lease.New(store.Leases, a.Log), Registry: a.Registry, Log: a.Log, Client: conn.Client, Codec: conn.codec, Features: features, Env: session.HostEnv(), Telemetry: a.telemetry,
		CacheDir: a.CacheDir(), Secrets: a.Secrets, Scratch: a.scratchArea(), Usage: a.usage(), Models: a.secondProgram(),
		Forget: func(path string) error { return lockfile.Forget(a.MemoFile(), path) },
	}
	acts.Open = func(ctx context.Context, file string, vars map[string]string, targets []string) (*plan.Plan, string, error) {
		return a.openForWorker(ctx, acts.Accepts, file, vars, targets)
	}
	return acts
}

// usage measures this process's steps.
func (a *app) usage() *usage.Meter {
	if a.meter == nil {
		a.meter = usage.New(usage.Here())
	}
	return a.meter
}

// scratchArea is where this process's steps work, cleared of what dead processes left.
func (a *app) scratchArea() *scratch.Area {
	if a.scratch == nil {
		a.scratch = scratch.In(scratch.DefaultRoot())
		swept, err := a.scratch.Sweep()
		if swept.Folders+swept.Programs > 0 {
			a.Log.Info("left by processes that were killed", "programs ended", swept.Programs, "folders of steps removed", swept.Folders)
		}
		if err != nil {
			a.Log.Warn("leftovers of killed processes could not be removed", "err", err)
		}
	}
	return a.scratch
}

// registerAttributes adds the search attributes to a cluster; false if that is not allowed:
// then runs go without them.
func (a *app) registerAttributes(ctx context.Context, c client.Client, namespace string) bool {
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		a.Log.Info("the cluster does not report its search attributes; the run sets none", "err", err)
		return false
	}
	want := map[string]enums.IndexedValueType{}
	for _, n := range workflows.SearchAttributes() {
		if _, ok := have.CustomAttributes[n]; !ok {
			want[n] = enums.INDEXED_VALUE_TYPE_KEYWORD
		}
	}
	if len(want) == 0 {
		return true
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: want})
	if err != nil {
		a.Log.Info("search attributes could not be added to the cluster; going without", "err", err)
	}
	return err == nil
}
