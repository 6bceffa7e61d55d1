package cli

import (
	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/session/drive"
)

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
