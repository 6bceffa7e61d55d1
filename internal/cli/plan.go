package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/session/saved"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/worker"
)

func newPlanCmd(a *app) *cobra.Command {
	var detailed bool
	var onSlurm slurmOptions
	var saveTo, by, markdown string
	st := view.PlanStyle{}
	facts := view.PlanFacts{}
	var on string
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what is done (HIT), must run (RUN), or depends on a step that must run first (MAYBE), and what that costs",
		Long: `With more than 20 steps to run, each block gets one line. Times and sizes are those of earlier
results: of the step, else of its block; else by rates that redsi doctor --rates measured on the device that will do
the step; else of its kind. Where they vary, the median is followed by the 90 % quantile; sums add up each. Results of
runs without a source of the step do not count as history. Steps without history are counted separately and are not
part of sums. MAYBE steps count as if they ran. Steps whose program or source is missing are left out, with the steps
that need them, and named at the end; the exit code is then 2.

The wall time is a lower bound, from the longest chain of steps and the work divided among the
slots. A step that resumes from a checkpoint counts in full.

With --slurm, each sort of pilots of the slurm block in redsi.local.hcl has a line: the steps that it would run, their
hours, those of its cores if they are always busy, how many pilots there would be at a time, and when Slurm could
start the first (sbatch --test-only). Steps that no pilot holds are UNFIT.

With --on, what models compute is priced by the rates of another device, whatever earlier results
say: of a name that redsi doctor lists, or v100-paper, the hours that the paper prints of the V100
that it used (T5-Base only). Other steps are not known then, and say why.`,
		Example: `  redsi plan
  redsi plan --by table                   # what each table and figure needs
  redsi plan --verbose                    # each step, and the longest chain
  redsi plan --target table.dedup_counts --var scale=toy
  redsi plan --json --detailed-exitcode   # 0: nothing to do, 3: something to run
  redsi plan --on nvidia-h200 --gpu-slots 8 --price 3.8  # on eight such cards, and what they cost
  redsi plan --slurm                      # in which jobs of Slurm, and when they could start
  redsi plan --markdown plan.md           # for a pull request
  redsi plan --out next.plan && redsi apply next.plan`,
		Args: onSlurm.args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx := cmd.Context()
			if by != "block" && by != "table" {
				return fault.Input(fmt.Errorf("--by %s: want block or table", by))
			}
			facts.Slots, facts.GPUSlots = cmp.Or(facts.Slots, worker.Options{}.Has().CPUs), cmp.Or(facts.GPUSlots, 1)
			if cmd.Flags().Changed("price") && !(facts.Price >= 0 && facts.Price <= math.MaxInt32) {
				return fault.Input(fmt.Errorf("--price %g: want dollars per hour, such as 2.5", facts.Price))
			}
			if on != "" {
				all, _ := rates.Read(a.RatesFolder())
				if a.On, err = rates.Named(all, on); err != nil {
					return fault.Input(fmt.Errorf("--on: %w", err))
				}
			}
			a.Partial = saveTo == "" // such a plan is only shown
			a.Explains = true
			var keep session.Ask // of a plan that is only shown: nothing
			if saveTo != "" {
				keep = session.Everything
			}
			seen, err := a.PreviewSteps(ctx, keep)
			if err != nil {
				return err
			}
			v, store := seen.Preview, seen.Store
			a.sayLocal()
			own := store.Alone()
			past, err := a.Journal(ctx, store.Own, v)
			if err != nil {
				return err
			}
			if facts.Why, err = past.Reasons(ctx, own, v, a.Differ(ctx, own)); err != nil {
				return err
			}
			if facts.Parts, err = a.PartsOf(ctx, store, v); err != nil {
				return err
			}
			facts.Causes, facts.Failed, facts.Pieces = past.Causes, past.Failed, past.Pieces
			a.Belief.Explain(v, facts.Why)
			if facts.Others, err = a.OthersOf(ctx, store, v); err != nil {
				return err
			}
			if facts.Estimate, err = a.EstimateOf(ctx, own, v, past); err != nil {
				return err
			}
			for format, n := range past.Moved {
				a.Log.Warn("keys moved: this pipeline has results under keys in a format that this redsi does not read, so they are not found", "their format", format, "this redsi's", step.KeyFormat, "steps", n)
			}
			if saveTo != "" {
				if err := saved.Save(a.Session, v, saveTo); err != nil {
					return err
				}
			}
			facts.Folders = origins.Folders(v.Plan)
			facts.Libraries, facts.Unkeyed = a.Counted(v.Plan.Steps), a.Unkeyed(v.Plan.Steps)
			if facts.Unfit = a.Unfit(drive.Cluster{}, v); onSlurm.on {
				if err := a.usePilots(ctx, v, onSlurm, &facts); err != nil {
					return err
				}
			}
			facts.Store, facts.Free = store.Own.URL, session.RoomOf(store.Own)
			err = a.writeForm(markdown, func(w io.Writer) error { return view.PlanMarkdown(w, v, facts, a.Lacks) })
			switch {
			case err != nil:
			case a.JSON:
				err = view.WriteJSON(a.Out, view.NewPlanJSON(v, facts))
			case markdown != "-":
				st.Style, st.ByTable = a.style(a.Out), by == "table"
				view.Plan(a.Out, v, st, facts)
			}
			if err == nil {
				err = a.SayDown(store, session.MayHave(v, facts.Estimate))
			}
			if err == nil {
				err = a.Lacks
			}
			if err == nil && detailed && !v.Done() {
				return fault.Printed(fault.CodePending)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&detailed, "detailed-exitcode", false, "exit 0 if there is nothing to do, 3 if there is")
	f.StringVarP(&saveTo, "out", "o", "", "save the plan with its keys to this `FILE`, for redsi apply")
	f.StringVar(&markdown, "markdown", "", "also write the plan as Markdown, for a pull request, to this `FILE`; - is standard output")
	f.StringVar(&by, "by", "block", "group by block, or by table: what each table and figure needs")
	f.BoolVarP(&st.Verbose, "verbose", "v", false, "list each step that is not a hit, and the longest chain")
	f.BoolVarP(&st.All, "all", "a", false, "list every step, also hits")
	f.IntVar(&facts.Slots, "slots", 0, "steps at a time, for the wall time (default: cores)")
	f.IntVar(&facts.GPUSlots, "gpu-slots", 0, "steps at a time on queue redsi-gpu, for the wall time (default 1)")
	onSlurm.flags(cmd, "say which jobs of Slurm the steps would run in")
	f.StringVar(&on, "on", "", "price what models compute by the rates of this `DEVICE`, of those that redsi doctor lists, or v100-paper")
	f.Float64Var(&facts.Price, "price", -1, "with --on, `DOLLARS` of a card and an hour")
	onlyWith(cmd, "on", "price")
	atLeast(cmd, 0, "slots", "gpu-slots")
	return with(cmd, a.pipelineFlags, a.targetFlag, a.fromFlags)
}
