package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/allocation"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

// Work runs steps for a cluster until ctx or the worker ends. cards are shown; setCurrent makes its build the current one.
func (dr *Driver) Work(ctx context.Context, o Cluster, w worker.Options, cards string, setCurrent bool) error {
	store, err := dr.OpenStore(ctx)
	if err != nil {
		return err
	}
	if err := dr.StartTelemetry(ctx); err != nil {
		return err
	}
	conn, err := dr.Dial(ctx, o)
	if err != nil {
		return err
	}
	defer conn.Close()
	features := workflows.Features{SearchAttributes: dr.RegisterAttributes(ctx, conn.Client, conn.Namespace)}
	acts := dr.Activities(store, conn, features)
	acts.Accept, acts.Told = o.Accept, told(ctx)
	if acts.Lacks = dr.Lacking(ctx); acts.Lacks != nil {
		dr.Say(fmt.Sprintf("this worker leaves steps of the kinds %s to other workers: %v", strings.Join(dr.Computed(), ", "), acts.Lacks))
	}
	w.Base = conn.Queue(store.Own)
	wk := worker.New(conn.Client, acts, w)
	if err := wk.Start(); err != nil {
		return err
	}
	dr.Log.Info("worker started", "temporal", conn.Host, "namespace", conn.Namespace, "store", store.Own.URL, "cards", cards, "payload keys", conn.Codec.IDs())
	dctx, end := context.WithCancel(ctx)
	defer end()
	go heed(dctx, dr.Log, func(ctx context.Context) error {
		_, err := conn.Client.CheckHealth(ctx, &client.CheckHealthRequest{})
		return err
	})
	failed := make(chan error, 1)
	if w.Deployment != (worker.Deployment{}) {
		go func() {
			if err := dr.deploy(dctx, conn, w.Deployment, setCurrent); err != nil {
				failed <- err
			}
		}()
	}
	why := "interrupted"
	select {
	case <-ctx.Done():
	case why = <-wk.Ended():
	case err := <-failed:
		wk.Stop()
		return err
	}
	dr.Log.Info("stopping; running steps are handed back", "why", why)
	wk.Stop()
	return nil
}

// heedEvery is how often a worker asks whether its server is there, and how long that may take.
const heedEvery = 10 * time.Second

// heed logs when the server of a worker stops answering, and when it answers again.
func heed(ctx context.Context, log *slog.Logger, check func(context.Context) error) {
	var lost time.Time
	for readers.Pause(ctx, heedEvery) == nil {
		one, stop := context.WithTimeout(ctx, heedEvery)
		err := check(one)
		stop()
		switch {
		case ctx.Err() != nil:
		case err != nil && lost.IsZero():
			lost = time.Now()
			log.Warn("the Temporal server does not answer; what runs here goes on, and the server is asked again", "err", err)
		case err == nil && !lost.IsZero():
			log.Info("the Temporal server answers again", "after", time.Since(lost).Round(time.Second))
			lost = time.Time{}
		}
	}
}

// beforeJobEnds is how long before its batch job a worker ends, of a short job half of its time: batch systems look at limits
// now and then, and send signals a minute before them.
const beforeJobEnds = 90 * time.Second

// UntilJobEnds tells, and returns, for how long a worker works if its batch job has an end; 0: the end is unknown.
func (dr *Driver) UntilJobEnds(ctx context.Context) time.Duration {
	job := allocation.Here()
	end, err := job.End(ctx)
	if err != nil {
		dr.Log.Warn("when this worker's batch job is ended is not known, so it may begin what it cannot end: give it --until", "job", job, "err", err)
	}
	if end.IsZero() {
		return 0
	}
	left := time.Until(end)
	until := max(time.Second, left-min(beforeJobEnds, left/2)).Round(time.Second)
	dr.Say(fmt.Sprintf("%s is ended at %s at the latest: this worker ends in %s, and begins no step that it expects to take longer (--until sets another time, 0 none)",
		job, end.Local().Format(time.DateTime), until))
	return until
}

// Deployment reads the name of a worker deployment, perhaps with a build.
func Deployment(text string) (worker.Deployment, error) {
	build := revision.Of()
	if build == "unknown" {
		build = ""
	}
	of, err := worker.ParseDeployment(text, build)
	if err != nil {
		return of, fault.Input(fmt.Errorf("--deployment: %w", err))
	}
	return of, nil
}

// deploy makes a build current, or says how a person does.
func (dr *Driver) deploy(ctx context.Context, conn *Connection, d worker.Deployment, setCurrent bool) error {
	command := "temporal worker deployment set-current-version --deployment-name " + shellwords.Quote(d.Name) + " --build-id " + shellwords.Quote(d.Build)
	log := dr.Log.With("deployment", d.Name, "build", d.Build)
	if !setCurrent {
		switch current, err := d.Current(ctx, conn.Client); {
		case err != nil:
			log.Warn("the cluster does not report its worker deployments; it may not support them", "err", err)
		case current != d.Build:
			log.Info("new runs do not go to this build; use --set-current, or: "+command, "current build", current)
		}
		return nil
	}
	err := d.SetCurrent(ctx, conn.Client, func(err error) { log.Warn("this build is not current yet; retrying", "err", err) })
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, worker.ErrReplaced):
		log.Warn("this build was current before and is not made current again; it only finishes its runs. To make it current: " + command)
	case err != nil:
		return fmt.Errorf("--set-current: build %s of deployment %s: %w", d.Build, d.Name, err)
	default:
		log.Info("new runs go to this build")
	}
	return nil
}

// RunScript runs a staged program as its step does.
const RunScript = step.OwnFolder + "/run.sh"

// StepFolder makes a folder with a step's inputs, as the step sees them. p is nil of a step without a program.
func (dr *Driver) StepFolder(ctx context.Context, address string) (dir string, p *step.Program, err error) {
	v, i, err := dr.PreviewStep(ctx, address)
	if err != nil {
		return "", nil, err
	}
	it := v.Items[i]
	if it.Outcome == plan.Maybe {
		waits := v.Plan.Addresses(it.Snags().Waits)
		return "", nil, fmt.Errorf("%s of the inputs of %s have no results yet: %s", words.Count(len(waits), "step"), address, dr.ToRun(waits...))
	}
	if dir, err = os.MkdirTemp("", "redsi-shell-*"); err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err = dr.StoreLibraries(ctx, v.Store.Own, v.Plan); err != nil { // Stage builds environments of them
		return dir, nil, err
	}
	p, err = dr.Activities(v.Store, nil, workflows.Features{}).Stage(ctx, address, it.Key, it.Task(), v.Plan.Steps[i].Resources.Granted(), dir)
	if errors.Is(err, artifacts.ErrNotExist) {
		err = fmt.Errorf("%w: %s", err, dr.ToRun(address))
	}
	if err != nil || p == nil {
		return dir, nil, err
	}
	return dir, p, local.Create(dir, RunScript, 0o755, strings.NewReader(scriptOf(address, dir, *p)))
}

// scriptOf is a shell script that runs a program with only the step's environment.
func scriptOf(address, dir string, p step.Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n# What %s runs, in its environment.\n", strings.ToValidUTF8(strings.NewReplacer("\n", " ", "\r", " ").Replace(address), "\uFFFD"))
	if p.Note != "" {
		fmt.Fprintf(&b, "# %s\n", p.Note)
	}
	fmt.Fprintf(&b, "cd %s || exit\nexec env -i", shellwords.Quote(dir))
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		fmt.Fprintf(&b, " \\\n  %s", shellwords.Quote(name+"="+p.Env[name]))
	}
	for _, name := range p.Secrets {
		fmt.Fprintf(&b, " \\\n  %s=\"${%s:?is a secret of the step; set it}\"", name, name)
	}
	b.WriteString(" \\\n ")
	for _, arg := range p.Argv {
		b.WriteString(" " + shellwords.Quote(arg))
	}
	fmt.Fprintf(&b, " < %s\n", shellwords.Quote(cmp.Or(p.Stdin, "/dev/null")))
	return b.String()
}
