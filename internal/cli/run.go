package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/session/saved"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/workflows"
)

func newRunCmd(a *app) *cobra.Command {
	var o runOptions
	watch, yes := false, false
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the steps that lack results, and write the tables and figures",
		Long: `It writes what publish blocks name, too.

Without a cluster, a worker runs inside this command, with an embedded Temporal server that all
commands with this state folder share and that ends with the last of them; the address of its UI is
printed. With --temporal-address, TEMPORAL_ADDRESS or a Temporal profile, the run goes to that
cluster, whose own workers run the steps. If there is nothing to do, no server is started.

If a run is expected to exceed --confirm-above, you are asked first, on a terminal only; scripts,
pipes and jobs are not held up.

With --slurm, jobs of Slurm do the steps: this command submits as many as the steps that are ready need, by the slurm
block of redsi.local.hcl or --pilot, and does none itself. Jobs leave when they have no work. If the command is killed
they go on; the same command takes the run up. With --as-job 24h this command submits itself as a job of that time, and
returns. Another job follows before that time is over; ` + "`redsi status`" + ` shows the run.

With --watch it then waits until a file changes that the pipeline reads: its own files, those of
modules and file(), local sources and programs. A change during a run does not disturb it; the next
run begins when it has ended. Mistakes in the pipeline are shown, and the next change is waited for.

Ctrl-C cancels; the next run continues where this one stopped.`,
		Example: `  redsi run
  redsi run -f pipelines.hcl --target table.dedup_counts
  redsi run --watch --target figure.quality
  redsi run --notify 'mail -s "redsi has ended" me@example.org'
  redsi run --slurm
  redsi run --slurm --as-job 24h
  redsi run --slurm --pilot cpus=8,memory=32GB,time=4h,max=8 -- --partition=short
  redsi run --temporal-address 127.0.0.1:7233 --detach`,
		Args: o.slurm.args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if yes {
				o.above = "never"
			}
			if watch && o.slurm.asJob != "" {
				return fault.Input(errors.New("--watch cannot be used with --as-job: files are watched by a command that stays"))
			}
			if watch {
				return a.watch(cmd.Context(), o)
			}
			return a.run(cmd.Context(), o)
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.above, "confirm-above", env("REDSI_CONFIRM_ABOVE", estimate.UsualLimits), "on a terminal, ask before a run of more work or downloads than this: TIME, SIZE or both; never: do not ask")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&watch, "watch", false, "run again whenever a file changes that the pipeline reads, until Ctrl-C")
	return with(cmd, a.pipelineFlags, a.targetFlag, a.fromFlags, a.metricsFlag, a.progressFlag)
}

type runOptions struct {
	drive.RunOptions
	outDir string
	quiet  bool
	strict bool
	notify string // URL or command
	above  string // which runs need a confirmation at the terminal, as --confirm-above says it; never: none
	slurm  slurmOptions
}

func (o *runOptions) flags(cmd *cobra.Command) {
	clusterFlags(cmd, &o.Cluster)
	embedFlags(cmd, &o.Cluster, 0)
	o.slurm.flags(cmd, "have jobs of Slurm do the steps")
	f := cmd.Flags()
	f.StringVar(&o.slurm.asJob, "as-job", "", "with --slurm: submit this command itself as a job of such a time, as 24h; another one follows before that is over")
	onlyWith(cmd, "slurm", "as-job")
	f.StringVar(&o.Cluster.Listen, "listen", "", "with --slurm: name or address of this machine by which jobs reach it (default: its host name)")
	f.BoolVar(&o.Detach, "detach", false, "start the run on the cluster and return")
	f.BoolVar(&o.FailFast, "fail-fast", false, "start nothing new after a step has failed")
	f.IntVar(&o.Priority, "priority", drive.UsualPriority, "1 to 5: of runs that share workers, steps of the one with the lower number begin first; runs of equal priority take turns")
	f.StringVarP(&o.outDir, "out", "o", "results", "folder for tables and figures")
	f.BoolVar(&o.strict, "strict", false, "exit 1 after the run if an expectation fails; see redsi check")
	f.BoolVar(&o.Skip, "skip-failed", false, "leave out steps that failed for good under the same key, and what depends on them; exit 1")
	f.StringVar(&o.notify, "notify", "", "when the run has ended, in whatever way, POST a JSON summary to this http(s) URL, or give it to this shell command on its standard input")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "do not print tables")
}

func newApplyCmd(a *app) *cobra.Command {
	o := runOptions{above: "never"}
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Run a plan saved by `redsi plan --out FILE`, if it would still do exactly the same",
		Long: `The pipeline is loaded anew with the saved variables and targets. If a step has a different key,
because the HCL, a source, a program or redsi itself has changed, nothing runs and the differences
are shown. Results that came into the store since are used.`,
		Example: `  redsi plan --target table.dedup_counts --out counts.plan
  redsi apply counts.plan`,
		Args: o.slurm.args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := saved.Read(args[0])
			if err != nil {
				return err
			}
			a.File, a.Vars, a.VarFiles, a.Targets = s.File, s.Vars, s.VarFiles, s.Targets
			if !cmd.Flags().Changed("profile") {
				a.Profile = s.Profile
			}
			if err := a.useLocal(session.ProjectDir(a.File)); err != nil {
				return err
			}
			if !cmd.Flags().Changed("store") {
				a.StoreURL = s.Store
				delete(a.Local.Flags, "store")
			}
			o.Saved = s
			return a.run(cmd.Context(), o)
		},
	}
	o.flags(cmd)
	return with(cmd, a.fromFlags, a.metricsFlag, a.progressFlag)
}

func (a *app) run(ctx context.Context, o runOptions) (err error) {
	began := time.Now()
	if err := o.checkNotify(); err != nil {
		return err
	}
	if p := o.Priority; p < 0 || p > 5 || p == 0 && a.cmd.Flags().Changed("priority") {
		return fault.Input(fmt.Errorf("--priority %d: want 1, which is first, to 5; a run without it has %d", p, drive.UsualPriority))
	}
	if o.Pilots, err = a.pilots(&o); err != nil {
		return err
	}
	var sum *drive.Summary
	defer func() {
		if o.notify != "" { // not if a job was submitted in place of the run: that job does it
			a.notify(ctx, o.notify, began, sum, err)
		}
	}()
	if o.slurm.asJob != "" {
		if queued, err := a.asJob(ctx, &o); err != nil || queued {
			return err
		}
	}
	if o.Loaded == nil {
		o.Loaded = a.sayLocal
	}
	o.FailedBefore = func(pl *plan.Plan, failed map[int]journal.Failed) { view.FailedBefore(a.Err, pl, failed, o.Skip) }
	o.Before = func(ctx context.Context, of session.Seen) error {
		view.Ignored(a.Err, origins.Folders(of.Preview.Plan))
		if err := a.sayOthers(ctx, of.Store, of.Preview); err != nil {
			return err
		}
		return a.confirm(ctx, o.above, of.Store, of.Preview)
	}
	o.Begun = a.begun
	o.Command = func(more ...string) string {
		args, _ := atDash(a.cmd, a.cmd.Flags().Args())
		if targets := a.cmd.Flags().Lookup("target"); targets != nil {
			args = append(args, session.TargetFlags(values(targets))...)
		}
		return a.hint(a.cmd.Name(), append(args, more...)...)
	}
	sum, err = a.Reproduce(ctx, o.RunOptions)
	var drifted *saved.Drifted
	switch {
	case errors.As(err, &drifted):
		return cmp.Or(a.print(map[string]any{"drift": drifted.Drifts}, nil, func(w io.Writer) { view.Drifts(w, drifted.Drifts) }), err)
	case sum == nil:
		return err
	case o.Detach && sum.RunID != "":
		workflow := workflows.ReproduceWorkflowID(sum.RunID)
		return cmp.Or(err, a.print(map[string]string{"workflow": workflow, "run": sum.RunID, "url": sum.URL}, nil, func(w io.Writer) { view.Printf(w, "started %s\n%s\n", workflow, sum.URL) }))
	}
	out := runSummary{Summary: sum, Started: began, TookS: time.Since(began).Seconds()}
	if stopped, ok := errors.AsType[*drive.Cancelled](err); ok {
		if a.JSON && stopped.Sum != "" {
			return cmp.Or(view.WriteJSON(a.Out, out), err)
		}
		return err
	}
	if sum.RunID != "" {
		var verr error
		if out.Compared, verr = rebuild.WithOthers(ctx, a.Session, sum.Of.Store, a.localActivities, sum.Of.Plan, sum.RunID); verr != nil {
			return cmp.Or(err, verr)
		}
	}
	return cmp.Or(err, a.conclude(ctx, o, &out), rebuild.Disagree(out.Compared))
}

func (a *app) begun(runID, url string) {
	if a.events != nil {
		a.events.Begun(runID, url)
		return
	}
	view.Printf(a.Err, "run %s\nTemporal UI: %s\n", runID, url)
}

func (a *app) show() (s drive.Screen, over func()) {
	if a.events != nil {
		a.followed.Store(a.events)
		return a.events, func() { a.followed.Store(nil) }
	}
	live := view.NewLive(a.Err, a.style(a.Err), terminal(a.Err))
	return live, live.Close
}

const watchEvery = time.Second

// stamps has the stamps of files at one look; zero of a missing file.
type stamps map[string]hashed.Stamp

func (s stamps) changed(old stamps) []string {
	return lists.Filter(slices.Sorted(maps.Keys(s)), func(f string) bool { return s[f] != old[f] })
}

// watch starts a run whenever a file has changed that the pipeline reads, until ctx ends. A change does not disturb a run at work.
func (a *app) watch(ctx context.Context, o runOptions) error {
	if o.Detach {
		return fault.Input(errors.New("--watch cannot be used with --detach: it follows one run after the other"))
	}
	var read stamps  // files as they were before they were read
	note := func() { // new files
		now := a.look()
		maps.Copy(now, read)
		read = now
	}
	o.Loaded = func() {
		a.sayLocal()
		note()
	}
	ticks := time.NewTicker(watchEvery)
	defer ticks.Stop()
	for {
		read = a.look()
		err := a.run(ctx, o)
		if ctx.Err() != nil {
			return err
		}
		if err != nil && !fault.Silent(err) {
			view.Println(a.Err, "redsi:", err)
		}
		note()
		a.Say("watching " + words.Count(len(read), "file") + "; Ctrl-C ends")
		files := await(ctx, read, a.look, ticks.C)
		if files == nil {
			return nil
		}
		a.Say(words.And(files, 3) + " changed")
	}
}

// await blocks until files have changed and the next look finds no further change; it returns nil if ctx ends.
func await(ctx context.Context, old stamps, look func() stamps, ticks <-chan time.Time) []string {
	for last := old; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
		}
		now := look()
		if files := now.changed(old); len(files) > 0 && len(now.changed(last)) == 0 {
			return files
		}
		last = now
	}
}

// look stamps the files that plans have read, and every file that may be part of the pipeline.
func (a *app) look() stamps {
	now := stamps{}
	dir := session.ProjectDir(a.File)
	beside, _ := fs.Glob(os.DirFS(dir), "*.hcl") // its pattern is valid
	beside = lists.Map(beside, func(name string) string { return filepath.Join(dir, name) })
	for _, f := range slices.Concat(a.FilesRead(), a.VarFiles, beside, []string{a.File}) {
		now[f], _ = hashed.StampOf(f)
	}
	delete(now, filepath.Join(dir, syntax.LocalFile)) // the settings are read once, at the start
	return now
}
