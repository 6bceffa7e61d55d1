package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/session/doctor"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/step"
)

func newDoctorCmd(a *app) *cobra.Command {
	var o drive.Cluster
	measure, trial := false, doctor.WholeTrial()
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine for what redsi needs, and say how to get what is missing",
		Long: `It checks the program, CPU, GPUs, disks, the store (a few bytes are written and deleted), the
signing key, the keys that the pipeline trusts, other stores (--from), and the Temporal server or cluster.

With --rates, it first measures in a minute or two how fast this machine is, its processors and a
card of each sort: extraction of Natural Questions, updates, searches and rankings by T5s of the
paper's sizes with random weights, and embeddings. The results are kept in the state folder, shown
from then on, and price steps in redsi plan. Measure while nothing else runs.

Each line is ok, warn (only some uses need it) or FAIL. Exit code 1 if a check fails.`,
		Example: `  redsi doctor
  redsi doctor --rates
  redsi doctor --temporal-address 127.0.0.1:7233 --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if measure {
				if err := trial.Measure(cmd.Context(), a.SecondProgram(), a.RatesFolder(), a.Say); err != nil {
					return err
				}
			}
			found := a.examine(cmd.Context(), o)
			bad := doctor.Leveled(found)
			err := a.print(found, nil, func(w io.Writer) { view.Findings(w, a.style(w), found) })
			if err == nil && bad > 0 {
				err = fmt.Errorf("%s failed", view.Count(bad, "check"))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&measure, "rates", false, "measure how fast this machine is, and keep that")
	cmd.Flags().BoolFunc("rates-quick", "measure small models, for tests", func(string) error {
		measure, trial = true, doctor.QuickTrial()
		return nil
	})
	_ = cmd.Flags().MarkHidden("rates-quick") // it is there
	clusterFlags(cmd, &o)
	return with(cmd, a.fromFlags)
}

func (a *app) examine(ctx context.Context, o drive.Cluster) []doctor.Finding {
	facts, err := a.SecondProgram().Facts(ctx)
	found := append(append([]doctor.Finding{doctor.Build(len(a.Registry.Kinds())), doctor.Cores()}, doctor.Job()...), doctor.Models(compute.Find(), facts, err, a.Computed())...)
	found = append(found, doctor.Programs(ctx, os.Getenv("PATH"))...)
	here := []string{attest.CPU()}
	for _, c := range doctor.CardsOf(facts) {
		here = append(here, c.Name)
	}
	found = append(found, doctor.Rates(a.RatesFolder(), here)...)
	found = append(found, doctor.State(a.StateDir)) // before the store's folder is made in it
	own, err := a.OpenOwn(ctx)
	found = append(found, doctor.Store(ctx, a.StoreURL, own, err),
		doctor.Folder("steps' folders", scratch.DefaultRoot(), "name a folder on a local disk: TMPDIR"))
	if root, err := realize.Root(); err == nil {
		found = append(found, doctor.Folder("environments", root, "make environments on one machine at a time, or name a folder for each: "+realize.Variable))
	}
	a.ReadResults(ctx)
	k, err := a.Signer()
	ring, rerr := a.Ring()
	found = append(found, doctor.Key(k, k != nil && rerr == nil && ring.Of(k.Public()) == signature.Revoked, err))
	policy, err := a.Policy()
	found = append(found, doctor.Trust(policy, err))
	found = append(found, doctor.Others(ctx, a.Addresses(), a.RequiresFrom())...)
	if o.Given() {
		found = append(found, a.examineCluster(ctx, o)...)
	} else {
		found = append(found, doctor.Server())
	}
	if o.PayloadKey != "" {
		codec, err := o.Codec()
		found = append(found, doctor.PayloadKey(o.PayloadKey, codec.IDs(), err))
	}
	if text := a.settings(); text != "" {
		found = append(found, doctor.Finding{What: "settings", OK: true, Note: text})
	}
	return found
}

func (a *app) examineCluster(ctx context.Context, o drive.Cluster) []doctor.Finding {
	ctx, cancel := context.WithTimeout(ctx, doctor.AnswersWithin)
	defer cancel()
	conn, err := a.Dial(ctx, o)
	if err != nil {
		return doctor.Cluster("", err, nil, nil)
	}
	defer conn.Close()
	polled := func(queue string) (bool, error) {
		return a.Polled(ctx, conn, queue, enums.TASK_QUEUE_TYPE_ACTIVITY, nil)
	}
	return doctor.Cluster(fmt.Sprintf("%s, namespace %s", conn.Host, conn.Namespace), nil, polled, func(queue string) string { return a.hint("worker", "--queue", queue) })
}

type build struct {
	Release  string `json:"release"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Server   string `json:"server"`   // the embedded server's program; "none" if missing
	Temporal string `json:"temporal"` // that the server was built of
	Models   string `json:"models"`   // the program that computes models; "none" if missing
	Libtorch string `json:"libtorch"` // that it is built against, if it is of this build
	Keys     string `json:"keys"`     // format of keys
}

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print what this program is made of: release, commit, Go, the embedded server, and what computes models",
		Example: `  redsi version --json`,
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	b := build{Release: revision.Release(), Revision: revision.Of(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Server: "none", Temporal: "none", Models: "none", Libtorch: revision.Libtorch, Keys: step.KeyFormat}
	if server, err := devserver.Find(); err == nil {
		b.Server, b.Temporal = server, devserver.Temporal(server)
	}
	models := compute.Find()
	if _, err := os.Stat(models); err == nil {
		b.Models = models
	}
	return a.print(b, nil, func(w io.Writer) {
		view.Printf(w, "redsi     %s, commit %s\nGo        %s, %s\n", b.Release, b.Revision, b.Go, b.Platform)
		view.Printf(w, "server    %s, Temporal %s\nmodels    %s, for libtorch %s\nkeys      %s\n", b.Server, b.Temporal, b.Models, b.Libtorch, b.Keys)
	})
}
