package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/internal/pipeline/hours"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/session/saved"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/worker"
)

func newPlanCmd(a *app) *cobra.Command {
	var detailed bool
	var saveTo, by string
	st := view.PlanStyle{}
	facts := view.PlanFacts{}
	cards := hoursFlags{}
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what is done (HIT), must run (RUN), or depends on a step that must run first (MAYBE), and what that costs",
		Long: `Show what is done (HIT), must run (RUN), or depends on a step that must run first (MAYBE), and what that costs.

With more than 20 steps to run, each block gets one line. Times and sizes are those of
earlier results: of the step, else of its block, else of its kind. Where they vary, the
median is followed by the 90 % quantile; sums add up each. Results of runs without a
source of the step do not count as history. Steps without history are counted separately
and are not part of sums. MAYBE steps count as if they ran. Steps whose program or source
is missing are left out, with the steps that need them, and named at the end; the exit code
is then 2.

The wall time is a lower bound, from the longest chain of steps and the work divided among
the slots. A step that resumes from a checkpoint counts in full.

With --hours, what the steps of queue gpu that are not hits take on a type of card: as
measured on such a card, else computed from its data sheet and the counted operations of
the step, scaled by how much longer or shorter steps of the same kind took on such a card
than computed. Computed values are marked, with what they depend on. Steps that do not fit
the card are named, with what to change.`,
		Example: `  redsi plan
  redsi plan --by table                   # what each table and figure needs
  redsi plan --verbose                    # each step, and the longest chain
  redsi plan --target table.dedup_counts --var scale=toy
  redsi plan --json --detailed-exitcode   # 0: nothing to do, 3: something to run
  redsi plan --hours --on h100 --cards 8  # the hours of steps on cards, and what they cost
  redsi plan --out next.plan && redsi apply next.plan`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if by != "block" && by != "table" {
				return fault.Input(fmt.Errorf("--by %s: want block or table", by))
			}
			if facts.Slots < 0 || facts.GPUSlots < 0 {
				return fault.Input(errors.New("--slots and --gpu-slots cannot be negative"))
			}
			facts.Slots, facts.GPUSlots = cmp.Or(facts.Slots, worker.Options{}.Has().CPUs), cmp.Or(facts.GPUSlots, 1)
			o, err := cards.options()
			if err != nil {
				return err
			}
			a.Partial = saveTo == "" // such a plan is only shown
			seen, err := a.Preview(ctx, func(of session.Seen) (plan.Keep, error) {
				switch {
				case saveTo != "":
					return session.KeepAll, nil
				case o != nil:
					return a.KeepForHours(of.Plan), nil
				}
				return session.KeepNone, nil
			})
			if err != nil {
				return err
			}
			v, store := seen.Preview, seen.Store
			a.sayLocal()
			own := store.Own()
			past, err := a.Journal(ctx, own, v)
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
			if o != nil {
				if facts.Hours, err = a.HoursOf(ctx, store, v, past, facts.Estimate, *o); err != nil {
					return err
				}
			}
			for format, n := range past.Moved {
				a.Log.Warn("keys moved: this pipeline has results under keys in a format that this redsi does not read, so they are not found", "their format", format, "this redsi's", step.KeyFormat, "steps", n)
			}
			if saveTo != "" {
				if err := saved.Save(a.Session, v, saveTo); err != nil {
					return err
				}
			}
			for _, s := range v.Plan.Steps {
				if f, ok := origins.Look(s.Address, s.Task, s.Pos); ok {
					facts.Folders = append(facts.Folders, f)
				}
			}
			facts.Libraries = a.Counted(v.Plan.Steps)
			facts.Unfit = a.Unfit(drive.Cluster{}, v)
			facts.Store, facts.Free = store.URL, session.RoomOf(store)
			if a.JSON {
				err = view.WriteJSON(a.Out, view.NewPlanJSON(v, facts))
			} else if st.Style, st.ByTable = a.style(a.Out), by == "table"; facts.Hours != nil {
				view.Hours(a.Out, v, st.Style, facts.Hours)
			} else {
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
	a.pipelineFlags(cmd)
	a.targetFlag(cmd)
	a.fromFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&detailed, "detailed-exitcode", false, "exit 0 if there is nothing to do, 3 if there is")
	f.StringVarP(&saveTo, "out", "o", "", "save the plan with its keys to this `FILE`, for redsi apply")
	f.StringVar(&by, "by", "block", "group by block, or by table: what each table and figure needs")
	f.BoolVarP(&st.Verbose, "verbose", "v", false, "list each step that is not a hit, and the longest chain")
	f.BoolVarP(&st.All, "all", "a", false, "list every step, also hits")
	f.IntVar(&facts.Slots, "slots", 0, "steps at a time, for the wall time (default: cores)")
	f.IntVar(&facts.GPUSlots, "gpu-slots", 0, "steps at a time on queue redsi-gpu, for the wall time (default 1)")
	cards.add(cmd)
	return cmd
}

// hoursFlags are the flags of plan --hours.
type hoursFlags struct {
	asked bool
	on    string
	cards int
	price string
}

func (h *hoursFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	var known []string
	for _, c := range roofline.Cards() {
		known = append(known, c.Name)
	}
	f.BoolVar(&h.asked, "hours", false, "hours and cost of the steps on cards, measured if possible, else computed")
	f.StringVar(&h.on, "on", "", "with --hours, the type of card: "+strings.Join(known, ", "))
	f.IntVar(&h.cards, "cards", 1, "with --hours, how many cards there are")
	f.StringVar(&h.price, "price", "", "with --hours, US dollars per card and hour (default: a typical rental price)")
	onlyWith(cmd, "hours", "on", "cards", "price")
}

// options are the hours that the flags ask for; nil: none.
func (h *hoursFlags) options() (*hours.Options, error) {
	if !h.asked {
		return nil, nil
	}
	if h.on == "" {
		return nil, fault.Input(errors.New("--hours needs a type of card, such as --on h100"))
	}
	card, err := roofline.CardNamed(h.on)
	if err != nil {
		return nil, fault.Input(fmt.Errorf("--on: %w", err))
	}
	if h.cards < 1 {
		return nil, fault.Input(fmt.Errorf("--cards %d: at least 1 is needed", h.cards))
	}
	o := &hours.Options{Card: card, Cards: h.cards, Price: card.Price, Unsupported: device.SupportedAnywhere(card.Capability)}
	if h.price != "" {
		if o.Price, err = strconv.ParseFloat(h.price, 64); err != nil || o.Price < 0 || math.IsInf(o.Price, 0) || math.IsNaN(o.Price) {
			return nil, fault.Input(fmt.Errorf("--price %q: want dollars per hour, such as 2.5", h.price))
		}
	}
	return o, nil
}
