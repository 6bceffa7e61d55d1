package drive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/allocation"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/host/telemetry"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

type Cluster struct {
	Address, Namespace, Profile, UI string
	PayloadKey                      string // file of keys
	Port, UIPort                    int
	Slots, Threads                  int      // of the worker of this process
	Head                            bool     // with no Slots: that worker plays workflows and leaves steps to others
	CPUs                            int      // that its steps may ask for; 0: what there is
	Memory                          int64    // bytes, likewise
	Strict                          bool     // the ports were asked for by the person
	Listen                          string   // name or address of this machine on which others reach the embedded server; "": they do not
	Folder                          bool     // of a worker: the cluster is the state folder's server, which another process runs
	Embedded                        bool     // even if the environment names a cluster
	Accept                          []string // folders of pipelines that the worker may be told to load
}

func (o *Cluster) Codec() (payload.Codec, error) {
	c, err := payload.Load(o.PayloadKey)
	if err != nil {
		return c, fault.Input(fmt.Errorf("--payload-key (or REDSI_PAYLOAD_KEY): %w", err))
	}
	return c, nil
}

// StartTelemetry serves metrics and sends traces, as flags and environment say, until the program ends.
func (dr *Driver) StartTelemetry(ctx context.Context) error {
	if dr.telemetry != nil {
		return nil
	}
	t, err := telemetry.Start(ctx, telemetry.Options{Metrics: dr.MetricsAddress, Version: revision.Of(), Log: dr.Log})
	if err != nil {
		return fault.Input(fmt.Errorf("--metrics-address: %w", err))
	}
	if dr.telemetry = t; t.Address() != "" {
		dr.Log.Info("metrics", "url", "http://"+t.Address()+"/metrics")
	}
	return nil
}

func Sealed(o client.Options, c payload.Codec) client.Options {
	o.DataConverter, o.FailureConverter = c.DataConverter(), workflows.Failures(c.FailureConverter())
	return o
}

// checkShare refuses numbers that no worker can have, or that are meant for another worker.
func (o *Cluster) checkShare() error {
	switch {
	case o.Slots < 0 || o.Threads < 0 || o.CPUs < 0:
		return fault.Input(errors.New("--slots, --threads and --cpus cannot be negative"))
	case o.Given() && (o.Slots > 0 || o.Threads > 0 || o.CPUs > 0 || o.Memory > 0 || o.Head):
		return fault.Input(errors.New("--slots, --threads, --cpus and --memory configure this command's own worker, but the run uses the cluster's workers: give them to those"))
	}
	return nil
}

// head reports whether this process leaves all steps to other workers: so told, or since other machines reach the server.
func (dr *Driver) head(o Cluster) bool {
	if o.Given() || o.Slots > 0 {
		return false
	}
	i, _ := devserver.Running(dr.serverDir())
	return o.Head || o.Listen != "" || i.Listen != ""
}

func (o *Cluster) Given() bool {
	return !o.Embedded && (o.Address != "" || o.Profile != "" || os.Getenv("TEMPORAL_ADDRESS") != "")
}

func (o *Cluster) own() worker.Options {
	return worker.Options{CPU: o.Slots, Threads: o.Threads, Cores: o.CPUs, Memory: o.Memory}
}

// Connection is a client, and what this process runs for it.
type Connection struct {
	Client    client.Client
	UI        string
	Namespace string
	Host      string        // host:port
	Codec     payload.Codec // of its payloads
	worker    *worker.Worker
	Server    *devserver.Server // of the state folder; nil with a cluster
	state     string            // folder whose server it is; "": a cluster's
	pilots    *Pilots           // that do a run's steps; nil: other workers do
}

// Close stops the worker and the client. The server ends when no process uses it any more.
func (c *Connection) Close() {
	if c.worker != nil {
		c.worker.Stop()
	}
	if c.Client != nil {
		c.Client.Close()
	}
	if c.Server != nil {
		c.Server.Close()
	}
}

func (c *Connection) condition() string {
	if c.Server != nil {
		return c.Server.Condition()
	}
	return "the cluster at " + c.Host
}

// RunURL is the page of a workflow's run or, without a UI, its name.
func (c *Connection) RunURL(workflowID, runID string) string {
	if c.UI == "" {
		return "workflow " + workflowID
	}
	return fmt.Sprintf("%s/namespaces/%s/workflows/%s/%s", c.UI, c.Namespace, url.PathEscape(workflowID), runID)
}

// Connect dials the cluster that was named, or starts an embedded one.
func (dr *Driver) Connect(ctx context.Context, o Cluster, store *artifacts.Resolver) (*Connection, error) {
	if err := o.checkShare(); err != nil {
		return nil, err
	}
	if o.Given() {
		defer dr.Waiting("waiting for the Temporal cluster")()
		return dr.Dial(ctx, o)
	}
	defer dr.Waiting("starting Temporal")()
	return dr.Embed(ctx, o, store)
}

func (dr *Driver) Dial(ctx context.Context, o Cluster) (*Connection, error) {
	codec, err := o.Codec()
	if err != nil {
		return nil, err
	}
	opts, state, err := dr.clientOptions(o)
	if err != nil {
		return nil, err
	}
	opts.Identity, opts.WorkerHeartbeatInterval = identity(), beatEvery
	opts.HostPort, opts.Namespace = cmp.Or(o.Address, opts.HostPort, client.DefaultHostPort), cmp.Or(o.Namespace, opts.Namespace, "default")
	opts.Logger = log.NewStructuredLogger(dr.sdkLog())
	c, err := client.DialContext(ctx, dr.telemetry.Client(Sealed(opts, codec)))
	if err != nil {
		return nil, fmt.Errorf("Temporal at %s: %w%s", opts.HostPort, err, dr.unreached(o))
	}
	return &Connection{Client: c, UI: o.UI, Namespace: opts.Namespace, Host: opts.HostPort, Codec: codec, state: state}, nil
}

// clientOptions says how to call the cluster that was named, or a state folder's server; state is that folder then.
func (dr *Driver) clientOptions(o Cluster) (opts client.Options, state string, err error) {
	named, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{ConfigFileProfile: o.Profile})
	if err != nil {
		return named, "", fault.Input(fmt.Errorf("Temporal profile: %w", err))
	}
	if !o.Folder {
		return named, o.stateFolder(), nil
	}
	opts, err = devserver.WorkerOptions(dr.serverDir())
	switch {
	case errors.Is(err, devserver.ErrNone) && named.HostPort != "": // by the default profile of Temporal's file
		return named, "", nil
	case errors.Is(err, devserver.ErrNone):
		err = fault.Input(fmt.Errorf("--state: %w: start one with `redsi dev --listen` on a machine that sees the folder, or name a cluster with --temporal-address or a profile", err))
	case errors.Is(err, devserver.ErrElsewhere):
		err = fault.Input(err)
	}
	return opts, dr.StateDir, denied(err)
}

// denied adds to an error about permission who owns the file or folder of the state folder.
func denied(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrPermission) {
		err = fault.Input(fmt.Errorf("--state: %w; it belongs to %s: run redsi as that account, or name a folder that you may read and write", err, system.Owner(at.Path)))
	}
	return err
}

// unreached says what to do about a cluster that does not answer; "" if that is plain.
func (dr *Driver) unreached(o Cluster) string {
	switch {
	case o.Folder:
		return "; if its machine is up, a firewall may keep this one from that port: `redsi dev --port` sets it"
	case !o.Given():
		return "; name a cluster with --temporal-address or a profile, or with --state the folder of `redsi dev --listen`"
	}
	return ""
}

func (dr *Driver) serverDir() string { return filepath.Join(dr.StateDir, "temporal") }

// HasServer reports whether the state folder has a server, perhaps a killed one.
func (dr *Driver) HasServer() bool {
	_, err := os.Stat(filepath.Join(dr.serverDir(), devserver.InfoFile))
	return err == nil
}

// told returns a function that reports whether this process's batch job was told to end, which ends ctx; nil without a job.
func told(ctx context.Context) func() bool {
	if allocation.Here().Job == "" {
		return nil
	}
	return func() bool { return ctx.Err() != nil }
}

// hostEnv is recorded with results; it is never part of a key. It does not look for cards: their libraries are loaded only when
// a step computes, and its result says on which card.
func hostEnv() map[string]string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	env := map[string]string{"host": host, "revision": revision.Of(), "go": runtime.Version(),
		"platform": fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
	if job := allocation.Here().String(); job != "" {
		env["job"] = job // and its node
	}
	return env
}

func identity() string { return fmt.Sprintf("%d@%s", os.Getpid(), runs.Place(hostEnv())) }

// Activities returns this process's activities; conn is nil without a server, as for `force` and `verify --rebuild`.
func (dr *Driver) Activities(store *artifacts.Resolver, conn *Connection, features workflows.Features) *activities.Activities {
	if conn == nil {
		conn = &Connection{}
	}
	if dr.meter == nil {
		dr.meter = usage.New(usage.Here())
	}
	acts := &activities.Activities{
		Store: store, Leases: lease.New(store.Own.Leases, dr.Log), Registry: dr.Registry, Log: dr.Log, Client: conn.Client, Features: features, Env: hostEnv(), Telemetry: dr.telemetry,
		CacheDir: dr.CacheDir(), Secrets: dr.Secrets, Scratch: dr.scratchArea(), Usage: dr.meter, Models: dr.SecondProgram(),
		Forget: func(path string) error { return hashed.Forget(dr.MemoFile(), path) },
	}
	acts.Resolve = dr.ResolveGrown
	acts.Beside = func(ctx context.Context) pipeline.Options { return dr.Options(ctx, session.Given{}, nil) }
	acts.Open = func(ctx context.Context, file string, vars map[string]string, targets []string) (*plan.Plan, string, error) {
		return dr.OpenForWorker(ctx, acts.Accepts, file, vars, targets)
	}
	return acts
}

// scratchArea is where this process's steps work, cleared of what dead processes left.
func (dr *Driver) scratchArea() *scratch.Area {
	if dr.Scratch == nil {
		dr.Scratch = scratch.In(scratch.DefaultRoot())
		swept, err := dr.Scratch.Sweep()
		if swept.Folders+swept.Programs > 0 {
			dr.Log.Info("left by processes that were killed", "programs ended", swept.Programs, "folders of steps removed", swept.Folders)
		}
		if err != nil {
			dr.Log.Warn("leftovers of killed processes could not be removed", "err", err)
		}
	}
	return dr.Scratch
}

// RegisterAttributes adds the search attributes to a cluster; false: it may not, and runs go without them.
func (dr *Driver) RegisterAttributes(ctx context.Context, c client.Client, namespace string) bool {
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		dr.Log.Info("the cluster does not report its search attributes; the run sets none", "err", err)
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
		dr.Log.Info("search attributes could not be added to the cluster; going without", "err", err)
	}
	return err == nil
}

// sdkLog is the SDK's logger, silent unless for debugging: the run itself reports cancelled and retried activities.
func (dr *Driver) sdkLog() *slog.Logger {
	if os.Getenv("REDSI_DEBUG_TEMPORAL") != "" {
		return dr.Log
	}
	return slog.New(slog.DiscardHandler)
}

// Queue is the task queue of runs with a store, and of their workers. A cluster has one store. On the server of a state folder every
// store has a queue, since a worker with another store has neither plans nor results: workflows.TaskQueue for the folder's own store,
// else a name by the store's place.
func (c *Connection) Queue(store artifacts.Store) string {
	place := open.Place(store.URL)
	if c.state == "" || place == open.Place(filepath.Join(c.state, "store")) {
		return workflows.TaskQueue
	}
	sum := sha256.Sum256([]byte(place))
	return workflows.TaskQueue + "-" + hex.EncodeToString(sum[:4])
}

// stateFolder is the state folder that the profile of a server belongs to; "" for a cluster's profile.
func (o *Cluster) stateFolder() string {
	dir, file := filepath.Split(os.Getenv("TEMPORAL_CONFIG_FILE"))
	if dir = filepath.Clean(dir); o.Profile != devserver.ProfileName || file != devserver.ProfileFile || filepath.Base(dir) != "temporal" {
		return ""
	}
	return filepath.Dir(dir)
}

// beatEvery is how often a process with workers tells the server that they live.
const beatEvery = 10 * time.Second
