package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/plan"
	"github.com/redsi/redsi/internal/revision"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/view"
	"github.com/redsi/redsi/step"
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

If more than 20 steps are no hits, there is a line for each block. Times and sizes
are those of earlier results: of the step, else of its block, else of its kind. Where
they differ, the median is followed by the 90 % quantile; sums add up either. Results
of runs that lack a source of the step are no history. Steps without history are
counted as such, and are in no sum. MAYBE steps count as if they ran. Steps whose program
or source is missing are left out, with what needs them, and named at the end; the exit
code is then 2.

The wall time is a lower bound: neither the longest chain of steps nor the work that
the slots share takes less. A step that resumes from a checkpoint counts whole.

With --hours, what the steps of queue gpu that are no hits take on cards of a kind:
by what they took on such a card; else computed from the data sheet and from the
operations that a step was counted to have, multiplied, where results of the same kind
on such a card are there, as those took more or less than is computed. What was computed
is said to be, with what it depends on. Steps that do not fit the card are named, with
what to change.`,
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
				return inputError(fmt.Errorf("--by %s: want block or table", by))
			}
			if facts.Slots < 0 || facts.GPUSlots < 0 {
				return inputError(errors.New("--slots and --gpu-slots cannot be negative"))
			}
			facts.Slots, facts.GPUSlots = cmp.Or(facts.Slots, max(2, runtime.NumCPU())), cmp.Or(facts.GPUSlots, 1)
			o, err := cards.options(cmd)
			if err != nil {
				return err
			}
			keep := func(int, *plan.Item) bool { return saveTo != "" }
			a.partial = saveTo == "" // such a plan is shown, and not run
			v, store, err := a.previewOn(ctx, func(pl *plan.Plan) plan.Keep {
				if o == nil {
					return keep
				}
				return either(keep, a.keepForHours(pl))
			})
			if err != nil {
				return err
			}
			a.sayLocal()
			own := store.Own()
			past, err := a.journalOf(ctx, own, v)
			if err != nil {
				return err
			}
			if facts.Why, err = a.reasons(ctx, own, v, past); err != nil {
				return err
			}
			facts.Causes, facts.Failed = past.causes, past.failed
			a.belief.explain(v, facts.Why)
			if facts.Others, err = a.othersOf(ctx, store, v); err != nil {
				return err
			}
			if facts.Estimate, err = a.estimateOf(ctx, own, v, past); err != nil {
				return err
			}
			if o != nil {
				if facts.Hours, err = a.hoursOf(ctx, store, v, past, facts.Estimate, *o); err != nil {
					return err
				}
			}
			for format, n := range past.moved {
				a.Log.Warn("keys moved: this pipeline has results under keys in a format that this redsi does not read, so they are not found", "their format", format, "this redsi's", step.KeyFormat, "steps", n)
			}
			if saveTo != "" {
				if err := a.savePlan(v, saveTo); err != nil {
					return err
				}
			}
			facts.Libraries = a.counted(v.Plan.Steps)
			facts.Store, facts.Free = store.URL, roomOf(store)
			if a.JSON {
				err = view.WriteJSON(a.Out, view.NewPlanJSON(v, facts))
			} else {
				st.Style, st.ByTable = a.style(a.Out), by == "table"
				if facts.Hours != nil {
					view.Hours(a.Out, v, st.Style, facts.Hours)
				} else {
					view.Plan(a.Out, v, st, facts)
				}
			}
			if err == nil {
				err = a.sayDown(store, mayHave(v, facts.Estimate))
			}
			if err == nil {
				err = a.lacks
			}
			if err == nil && detailed && !v.Done() {
				return &exitError{code: exitPending}
			}
			return err
		},
	}
	a.pipelineFlags(cmd)
	a.targetFlag(cmd)
	a.fromFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&detailed, "detailed-exitcode", false, "exit 0 if there is nothing to do, 3 if there is")
	f.StringVarP(&saveTo, "out", "o", "", "save the plan with its keys in this `FILE`, for redsi apply")
	f.StringVar(&by, "by", "block", "block, or table: what each table and figure needs")
	f.BoolVarP(&st.Verbose, "verbose", "v", false, "list each step that is no hit, and each of the longest chain")
	f.BoolVarP(&st.All, "all", "a", false, "list each step, hits too")
	f.IntVar(&facts.Slots, "slots", 0, "steps at a time, for the wall time (default: cores)")
	f.IntVar(&facts.GPUSlots, "gpu-slots", 0, "steps at a time on queue redsi-gpu, for the wall time (default 1)")
	cards.add(f)
	return cmd
}

// roomOf is how many bytes are free for a store's results; -1 if that is not known, as of
// a bucket.
func roomOf(store artifacts.Store) int64 {
	u, err := url.Parse(store.URL)
	if err != nil || u.Scheme != "file" {
		return -1
	}
	if free, ok := system.Free(filepath.FromSlash(u.Path)); ok {
		return free
	}
	return -1
}

// preview loads the pipeline and looks its results up.
func (a *app) preview(ctx context.Context) (*plan.Preview, artifacts.Store, error) {
	return a.previewFor(ctx, keepAll)
}

// previewFor is preview of a pipeline that may be long: it holds what keep wants.
func (a *app) previewFor(ctx context.Context, keep plan.Keep) (*plan.Preview, artifacts.Store, error) {
	return a.previewOn(ctx, func(*plan.Plan) plan.Keep { return keep })
}

// previewOn is previewFor, where what to keep depends on the plan.
func (a *app) previewOn(ctx context.Context, keep func(*plan.Plan) plan.Keep) (*plan.Preview, artifacts.Store, error) {
	pl, _, err := a.loadPlan(ctx)
	if err != nil {
		return nil, artifacts.Store{}, err
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return nil, store, err
	}
	v, err := a.previewOf(ctx, store, pl, keep(pl))
	return v, store, err
}

func keepAll(int, *plan.Item) bool  { return true }
func keepNone(int, *plan.Item) bool { return false }

func (a *app) previewOf(ctx context.Context, store artifacts.Store, pl *plan.Plan, keep plan.Keep) (*plan.Preview, error) {
	defer a.waiting("looking up " + view.Count(len(pl.Steps), "step") + " in " + a.places())()
	a.belief = a.newBelief()
	return pl.Follow(ctx, a.Registry, func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return a.belief.lookup(ctx, store, keys)
	}, keep, store.Blobs.Open)
}

// hostEnv is recorded with results; it is never part of a key. It does not look for cards,
// whose libraries nothing needs before a step computes: that step's result says on which.
func hostEnv() map[string]string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return map[string]string{"host": host, "revision": revision.Of(), "go": runtime.Version(),
		"platform": fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
}
