package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/session/cards"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

func newWorkerCmd(a *app) *cobra.Command {
	var o drive.Cluster
	var w worker.Options
	var gpus cards.Options
	setCurrent, deployment, script := false, "", false
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Run steps for a Temporal cluster until interrupted",
		Long: `Without a named cluster, --state names the folder of a server that ` + "`redsi dev --listen`" + ` runs, on
this machine or another one that sees the folder: it has the address and the key, and its store is
used unless --store names another. So it is without --state if .redsi has a server.

Start as many as you like, on as many machines; all of them must be able to reach the store. You may kill one at any
time: after 15 seconds of silence its work continues elsewhere. Ctrl-C hands the work over at once.

A worker starts a step that asks for processors, memory or cards by resources { … } when that fits
beside the steps that run here, and leaves one that never fits to others.

Steps that train, embed or evaluate are on queue redsi-gpu, one at a time on each card of --gpus. On a machine without
a card a worker leaves them to others, and says so; with --allow-cpu it runs them on the CPU. --queue redsi-gpu
without a card is refused. If a card fails, or a step takes too much memory, only that step's process ends, and the
step continues in a new one. A worker without redsi-models leaves steps that train, embed or evaluate, or need a
model's tokenizer, to others, and says which.

In a job of Slurm, PBS or LSF a worker has what the job has of the machine, and its part of that
where several tasks share it.

On machines with a time limit, --idle-exit ends a worker that has nothing to do, and --until ends it after a given
time; a job of Slurm has an end, 90 seconds before which its worker ends without --until. It starts no step that took
longer last time than the time left, or that such a worker could not end before (except training and embedding, which
continue from checkpoints). At the end it hands running steps back, and exits with 0.

For Slurm, --slurm-script PILOT prints a file for sbatch, by the slurm block of redsi.local.hcl and
with the other flags that are given.

With --deployment a worker belongs to a build: a run stays with the workers of the build that began it, and new runs go
to the current build, which --set-current makes this one. Keep workers of the old build until their runs have ended.

With --payload-key, what workers and ` + "`redsi run`" + ` send through the cluster is encrypted: all need the
same file. docs/security.md says what stays readable.`,
		Example: `  redsi worker --state /home/alice/paper/.redsi        # for the server of redsi dev --listen there
  redsi worker --temporal-address 127.0.0.1:7233 --store 's3://results/redsi?endpoint=minio:9000'
  redsi worker --queue redsi-gpu --gpus all
  CUDA_VISIBLE_DEVICES=1 redsi worker --queue redsi-gpu    # a worker for one card
  redsi worker --queue redsi                               # leaves cards to others
  redsi worker --slurm-script gpu > gpu.sh                 # a file for sbatch`,
		Args: func(cmd *cobra.Command, args []string) error {
			if script {
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return cobra.NoArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if script {
				return a.slurmScript(args)
			}
			for _, q := range w.Queues {
				if q != workflows.TaskQueue && q != workflows.GPUTaskQueue {
					return fault.Input(fmt.Errorf("--queue %s: the queues are %s and %s", q, workflows.TaskQueue, workflows.GPUTaskQueue))
				}
			}
			if err := gpus.Check(w); err != nil {
				return err
			}
			if deployment != "" {
				var err error
				if w.Deployment, err = drive.Deployment(deployment); err != nil {
					return err
				}
			} else if setCurrent {
				return fault.Input(errors.New("--set-current makes a build of a deployment current: give --deployment as well"))
			}
			shown, err := cards.For(cmd.Context(), a.Driver, &w, gpus)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("until") {
				w.Until = a.UntilJobEnds(cmd.Context())
			}
			o.Folder = !o.Given() && (cmd.Flags().Changed("state") || os.Getenv("REDSI_STATE") != "" || a.HasServer())
			return a.Work(cmd.Context(), o, w, shown, setCurrent)
		},
	}
	clusterFlags(cmd, &o)
	f := cmd.Flags()
	f.StringArrayVar(&w.Queues, "queue", nil, "poll only this queue: redsi or redsi-gpu; may be repeated")
	f.IntVar(&w.CPU, "slots", 0, "steps at a time on queue redsi (default: cores)")
	f.IntVar(&w.GPU, "gpu-slots", 0, "steps at a time on queue redsi-gpu; more than one per card share it (default: one per card)")
	f.StringVar(&gpus.GPUs, "gpus", "", "cards for steps of queue redsi-gpu, one step each: a number of cards, all, or a list, such as 0,2 or cuda:2 (default: the first)")
	f.BoolVar(&gpus.AllowCPU, "allow-cpu", false, "take steps of queue redsi-gpu even without a card, and run them on the CPU")
	f.IntVar(&w.Threads, "threads", 0, threadsHelp)
	roomFlags(cmd, &w.Cores, &w.Memory)
	f.DurationVar(&w.IdleExit, "idle-exit", 0, "end after being idle for this long, such as 10m (default: never)")
	f.DurationVar(&w.Until, "until", 0, "end after this time, such as 11h50m, and start nothing that will not fit; 0: never (default: 90s before the end of its batch job, if that is known)")
	f.StringVar(&deployment, "deployment", "", "belong to a worker deployment of Temporal: NAME, or NAME:BUILD (default build: this program's version)")
	f.BoolVar(&setCurrent, "set-current", false, "with --deployment: send new runs to this build from now on")
	atLeast(cmd, 0, "slots", "gpu-slots", "threads", "cpus", "idle-exit", "until")
	f.BoolVar(&script, "slurm-script", false, "start nothing: print the file for sbatch of the pilot that is named, of redsi.local.hcl")
	f.StringArrayVar(&o.Accept, "accept-pipelines", nil, "folder whose pipeline files workflows may name in their input; may be repeated (default: none, only plans stored by redsi run)")
	return with(cmd, a.fromFlags, a.metricsFlag)
}

func newDevCmd(a *app) *cobra.Command {
	var o drive.Cluster
	graphPort := 0
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run a Temporal server with its UI and a worker until Ctrl-C",
		Long: `All commands with this state folder share the server; it ends with the last of them. With --listen,
workers of other machines that see the folder, such as jobs, reach it, and its runs go on when it is started anew.
Calling it needs the key in that folder: the printed line has it, and so has redsi with the same --state. The UI is
read-only. A separate page shows the graph of each run, live and coloured by the state of its steps.

With --slots 0 it plays runs and leaves their steps to other workers, as on a login node: status and
cancel work with no worker at all, and a run says when none takes its steps. Each store that is used
with the server has workers of its own.`,
		Example: `  redsi dev
  redsi dev --slots 0            # does no steps itself
  redsi dev --listen             # prints the command for workers on other machines
  redsi run                      # in another terminal, same folder: uses it`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.Listen == hostName && len(args) == 1 { // --listen HOST, which the flag's parser reads as --listen and an argument
				o.Listen = args[0]
				return nil
			}
			return cobra.NoArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Listen == hostName {
				var err error
				if o.Listen, err = os.Hostname(); err != nil {
					return fmt.Errorf("--listen: %w", err)
				}
			}
			if o.Given() {
				return fault.Input(errors.New("redsi dev starts its own server, but TEMPORAL_ADDRESS names another: unset it, or use `" + a.hint("worker") + "` for that server"))
			}
			o.Strict = cmd.Flags().Changed("port") || cmd.Flags().Changed("ui-port")
			store, err := a.OpenStore(cmd.Context())
			if err != nil {
				return err
			}
			o.Accept = []string{"."}
			page, err := a.ListenForGraphs(graphPort)
			if err != nil {
				return err
			}
			defer page.Close()
			if err := a.StartTelemetry(cmd.Context()); err != nil {
				return err
			}
			conn, err := a.Embed(cmd.Context(), o, store)
			if err != nil {
				return err
			}
			defer conn.Close()
			a.ServeGraphs(cmd.Context(), page, conn, store)
			view.Printf(a.Out, "Temporal: %s (process %d)\nUI:       %s\ngraphs:   http://%s\nstore:    %s\n", conn.Server.Address, conn.Server.PID, conn.UI, page.Addr(), store.Own.URL)
			view.Printf(a.Out, "start a run from anywhere:\n  %s\n", startLine(conn.Server, conn.Queue(store.Own)))
			if conn.Server.Listen != "" {
				view.Printf(a.Out, "start a worker on any machine that sees this folder:\n  %s\n", a.StartWorker(conn))
			}
			<-cmd.Context().Done()
			return nil
		},
	}
	embedFlags(cmd, &o, 8233)
	payloadFlag(cmd, &o)
	cmd.Flags().IntVar(&graphPort, "graph-port", 8234, "port of the page of graphs; another one if it is in use")
	cmd.Flags().IntVar(&o.Port, "port", 7233, "port of the server; 0: a free one")
	cmd.Flags().StringVar(&o.Listen, "listen", "", "let other machines reach the server, not its pages, at this name or address of this machine; without one, at its `host` name")
	cmd.Flags().Lookup("listen").NoOptDefVal = hostName
	return with(cmd, a.fromFlags, a.metricsFlag)
}

// hostName stands for this machine's name.
const hostName = "hostname"

// startLine is a command line of Temporal's own program that starts a run.
func startLine(s *devserver.Server, queue string) string {
	line := fmt.Sprintf(`temporal --config-file %s --profile %s workflow start --type %s --task-queue %s --input '{"pipeline":"pipelines.hcl"}'`,
		shellwords.Quote(s.Profile()), devserver.ProfileName, workflows.ReproduceWorkflow, queue)
	if s.Listen != "" {
		line += " --memo " + drive.Stays + "=true"
	}
	return line
}
