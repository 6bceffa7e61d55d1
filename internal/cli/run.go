package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
)

func newRunCmd(a *app) *cobra.Command {
	o := runOptions{confirm: &confirmOptions{}}
	watch := false
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

With --slurm, jobs of Slurm do the steps: this command submits as many as the steps that are ready
need, by the slurm block of redsi.local.hcl or --pilot, and does none itself. Jobs leave when they
have no work. If the command is killed they go on; the same command takes the run up. With --as-job
24h this command submits itself as a job of that time, and returns. Another job follows before that
time is over; ` + "`redsi status`" + ` shows the run.

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
	o.confirm.flags(cmd)
	cmd.Flags().BoolVar(&watch, "watch", false, "run again whenever a file changes that the pipeline reads, until Ctrl-C")
	return with(cmd, a.pipelineFlags, a.targetFlag, a.fromFlags, a.metricsFlag, a.progressFlag)
}

type runOptions struct {
	drive.RunOptions
	outDir  string
	quiet   bool
	strict  bool
	notify  string          // URL or command
	confirm *confirmOptions // nil: never ask
	slurm   slurmOptions
}

func (o *runOptions) flags(cmd *cobra.Command) {
	clusterFlags(cmd, &o.Cluster)
	embedFlags(cmd, &o.Cluster, 0)
	o.slurm.flags(cmd, "have jobs of Slurm do the steps")
	f := cmd.Flags()
	f.StringVar(&o.slurm.asJob, "as-job", "", "with --slurm: submit this command itself as a job of such a time, as 24h; another one follows before that is over")
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
