package drive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/pilots"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

func (o *Cluster) own() worker.Options {
	return worker.Options{CPU: o.Slots, Threads: o.Threads, Cores: o.CPUs, Memory: o.Memory}
}

// Unfit says, by place, why this machine never has enough for a step; nothing of a cluster, or of a server that others reach.
func (dr *Driver) Unfit(o Cluster, v *plan.Preview) map[int]string {
	if o.Given() || dr.head(o) {
		return nil
	}
	if i, _ := devserver.Running(dr.serverDir()); i.Listen != "" {
		return nil
	}
	has, found := o.own().Has(), map[int]string{}
	for i, s := range v.Todo() {
		if s.Resources == nil {
			continue
		}
		x := pilots.Of(s, estimate.Step{}, dr.Registry.Lookup(s.Task.Kind))
		if lacks := has.Lacks(x.Asks, "this machine"); lacks != "" {
			found[i] = fmt.Sprintf("%s asks for %s (%s)", x.Address, lacks, x.At)
		}
	}
	return found
}

const unfitTold = 5

// refuseUnfit refuses a run here with steps (MAYBE ones too) that never fit, which it would find out only hours later.
func (dr *Driver) refuseUnfit(o Cluster, v *plan.Preview) error {
	unfit := dr.Unfit(o, v)
	if len(unfit) == 0 {
		return nil
	}
	return tellUnfit(unfit, "lower what is asked for there, leave such steps to a cluster (--temporal-address), to workers of `redsi dev --listen` or to jobs of Slurm (--slurm) or, if there is more here, say so by --cpus or --memory")
}

// tellUnfit is the error that some steps never fit, which says what to do.
func tellUnfit(unfit map[int]string, do string) error {
	var told []string
	for _, i := range words.First(slices.Sorted(maps.Keys(unfit)), unfitTold, func(n int) { told = append(told, fmt.Sprintf("… and %s more", words.Count(n, "step"))) }) {
		told = append(told, unfit[i])
	}
	return fault.Input(fmt.Errorf("%s\n%s", strings.Join(told, "\n"), do))
}

// Queue is the task queue of runs with a store: the usual one, but on a state folder's server one by the place of a store that is not its own.
func (c *Connection) Queue(store artifacts.Store) string {
	place := open.Place(store.URL)
	if c.state == "" || place == open.Place(filepath.Join(c.state, "store")) {
		return workflows.TaskQueue
	}
	sum := sha256.Sum256([]byte(place))
	return workflows.TaskQueue + "-" + hex.EncodeToString(sum[:4])
}

// stateFolder is the state folder whose server a named profile, with that server's file, is of; "": a cluster's.
func (o *Cluster) stateFolder() string {
	dir, file := filepath.Split(os.Getenv("TEMPORAL_CONFIG_FILE"))
	if dir = filepath.Clean(dir); o.Profile != devserver.ProfileName || file != devserver.ProfileFile || filepath.Base(dir) != "temporal" {
		return ""
	}
	return filepath.Dir(dir)
}

// Forget forgets the results of a target's steps and, with downstream, of their readers; it returns whose results there were.
func (dr *Driver) Forget(ctx context.Context, target string, downstream bool) ([]string, error) {
	p, err := dr.Load(ctx)
	if err != nil {
		return nil, err
	}
	v, err := dr.PreviewTargets(ctx, p, nil, session.Everything)
	if err != nil {
		return nil, err
	}
	if _, err := plan.Build(dr.File, v.Pipeline, dr.Registry, []string{target}); err != nil { // the target names something
		return nil, dr.TargetError(err)
	}
	chosen := selected(v.Plan, target, downstream)
	forgotten := []string{}
	for i, it := range v.Items {
		if !chosen[i] || it.Result == nil {
			continue
		}
		address := v.Plan.Steps[i].Address
		if from := it.Result.From; from != "" {
			dr.Say(fmt.Sprintf("%s: its result is in %s, which is read-only; a run that does not look there runs the step", address, from))
			continue
		}
		if err := dr.forget(ctx, v.Store, v.Preview, i); err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		forgotten = append(forgotten, address)
	}
	return forgotten, nil
}

// selected marks the steps that a target names and, with downstream, all later steps that depend on them.
func selected(p *plan.Plan, target string, downstream bool) []bool {
	chosen := make([]bool, len(p.Steps))
	for i, s := range p.Steps {
		chosen[i] = plan.Matches(target, s.Address)
		for _, d := range s.Deps {
			chosen[i] = chosen[i] || downstream && chosen[d]
		}
	}
	return chosen
}

func (dr *Driver) forget(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, i int) error {
	keys := []artifacts.Digest{v.Items[i].Key}
	acts := dr.Activities(store, nil, workflows.Features{})
	parts, err := acts.PartKeys(ctx, v.Items[i].Key, v.Items[i].Task())
	if err != nil {
		return err
	}
	for _, k := range append(keys, parts...) {
		if err := artifacts.DropResult(ctx, store.Own, k); err != nil && !errors.Is(err, artifacts.ErrNotExist) {
			return err
		}
	}
	return nil
}

// passing reports whether a call to Temporal may succeed later: the error is about the connection or a busy server.
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

// Persist calls f until it succeeds or fails for good, at most for startPatience, and tells after a while.
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

// Polled reports whether a worker (of a build, unless nil) polls a queue. The server remembers a poller for five minutes.
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

// beatEvery is how often a process with workers tells the server that they live.
const beatEvery = 10 * time.Second
