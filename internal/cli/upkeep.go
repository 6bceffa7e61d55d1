package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/internal/sharing/transfer"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/workflows"
)

func newVerifyCmd(a *app) *cobra.Command {
	var repair bool
	var sample string
	var o rebuild.Options
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check every stored byte against its digest; with --rebuild, run steps again and compare",
		Long: `Each result is checked against its outputs, too.

With --rebuild, run steps anew, on this machine, each from its existing inputs, and compare: same bytes, within
tolerance ("redsi kinds NAME" says how each output is compared), or different, with exit code 1. For a step or a block
with for_each its steps are run; for a table or figure all that it needs, in the order of the plan. Existing results
stay; differing bytes are kept next to them, with an attestation for each step, signed if you have a signing key.`,
		Example: `  redsi verify
  redsi verify --repair   # removes what is damaged, so that the next run rebuilds it; strays go to aside/
  redsi verify --sample 5%   # read that share of the bytes, picked at random
  redsi verify --rebuild 'step.dedup.nq["url"]'
  redsi verify --rebuild table.dedup_counts --sample 5 --budget 2h`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			share, err := readSample(cmd, sample, &o)
			if err != nil {
				return fault.Input(err)
			}
			if o.Target != "" {
				if repair {
					return fault.Input(errors.New("give either --rebuild or --repair, not both"))
				}
				if cmd.Flags().Changed("by") {
					if err := attest.CheckBy(o.By); err != nil {
						return fault.Input(fmt.Errorf("--by: %w", err))
					}
				}
				return a.rebuild(cmd.Context(), o)
			}
			store, err := a.OpenOwn(cmd.Context())
			if err != nil {
				return err
			}
			check := artifacts.CheckOptions{Repair: repair, Sample: share, Seed: o.Seed}
			var over func()
			check.Tell, over = a.telling("looking through the store")
			r, err := artifacts.Check(cmd.Context(), store.Own, check)
			over()
			if err != nil {
				return err
			}
			said := map[string]any{"results": r.Results, "blobs": r.Blobs, "read": r.Read, "bytes": r.Bytes, "problems": lists.Map(r.Problems, artifacts.Problem.String), "strays": lists.Map(r.Strays, artifacts.FoundStray.String), "elsewhere": r.Elsewhere, "released": r.Released}
			if share > 0 {
				said["seed"] = o.Seed
			}
			err = a.print(said, nil, func(w io.Writer) {
				if share > 0 {
					view.Printf(w, "%d of %s, picked by --seed %d\n", r.Read, view.Count(r.Blobs, "blob"), o.Seed)
				}
				view.Verified(w, r, repair, a.hint)
			})
			left := lists.Count(r.Problems, func(p artifacts.Problem) bool { return !p.Repaired })
			if err == nil && left > 0 {
				return fault.Failed(fmt.Errorf("%s left; `%s` removes what is damaged", view.Count(left, "problem"), a.hint("verify", "--repair")))
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&repair, "repair", false, "remove damaged blobs and the results and runs that need them; move foreign files in the store to its aside/")
	f.StringVar(&o.Target, "rebuild", "", "run this again, on this machine, and compare with the existing results, which stay: a step, or a table and all that it needs")
	f.StringVar(&sample, "sample", "", "read only this share of the bytes, such as 5%, or with --rebuild run only this many of the steps, picked at random (default: all)")
	f.Uint64Var(&o.Seed, "seed", 0, "with --sample: random seed for picking (default: a new one each time)")
	f.BoolVar(&o.Needs, "needs", false, "with --rebuild: also run all that the step needs, as for a table")
	f.DurationVar(&o.Budget, "budget", 0, "with --rebuild: leave out steps that, going by last time, would not fit into this time, such as 2h (default: none)")
	f.IntVar(&o.Threads, "threads", 0, "with --rebuild: threads per operation of a step that computes (default: as many as for its result, where they matter)")
	f.StringVar(&o.By, "by", "", "with --rebuild: your name in attestations, if you have no signing key")
	with(cmd, a.pipelineFlags, a.fromFlags)
	onlyWith(cmd, "rebuild", append([]string{"needs", "budget", "threads", "by"}, fromFlags...)...)
	onlyWith(cmd, "sample", "seed")
	atLeast(cmd, 1, "budget", "threads")
	return cmd
}

func newGCCmd(a *app) *cobra.Command {
	o := artifacts.GCOptions{}
	var free, most size
	var within string
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Delete results that no run uses any more, cheapest to rebuild first",
		Example: `  redsi gc --dry-run
  redsi gc --keep-runs 5 --free 50GB
  redsi gc --keep-within 90d --max 500GB`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Free, o.Max = free.n, most.n
			if within != "" {
				var err error
				if o.KeepWithin, err = parseAge(within); err != nil || o.KeepWithin <= 0 {
					return fault.Input(fmt.Errorf("--keep-within %s: want a time above 0, such as 90d or 12h", within))
				}
			}
			o.Grace = max(o.Grace, 1) // 0s means none; Collect's 0 means its default
			store, err := a.OpenOwn(cmd.Context())
			if err != nil {
				return err
			}
			var over func()
			o.Tell, over = a.telling("looking through the store")
			g, err := artifacts.Collect(cmd.Context(), store.Own, o)
			over()
			runs := lists.Map(g.Open, func(r artifacts.OpenRun) string { return r.RunID })
			said := map[string]any{"dry_run": o.DryRun, "results": len(g.Results), "leases": len(g.Leases), "blobs": len(g.Blobs), "bytes": g.Bytes, "kept_bytes": g.Kept, "open_runs": runs}
			return a.print(said, err, func(w io.Writer) { view.Collected(w, g, o, a.hint) })
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would be deleted, delete nothing")
	free.flag(f, "free", "50GB", "stop when this much is freed, such as 50GB")
	most.flag(f, "max", "500GB", "delete only while the store has more than this, such as 500GB")
	f.IntVar(&o.KeepRuns, "keep-runs", 0, "keep only the results of this many newest runs of each pipeline of a project (default: of all)")
	f.StringVar(&within, "keep-within", "", "keep only the results of runs that ended within this time, such as 90d or 12h, beside those of --keep-runs and `redsi keep` (default: of all)")
	f.StringArrayVar(&o.Forget, "forget-run", nil, "forget this run without a record, so that it keeps nothing any more; may be repeated")
	f.DurationVar(&o.Grace, "grace", artifacts.DefaultGrace, "keep everything younger than this, even if unused; for a bucket that runs write to, give 12h or more")
	atLeast(cmd, 0, "keep-runs", "grace")
	return cmd
}

// readSample reads --sample: the share of bytes to read, or with --rebuild the number of steps. It draws a seed if none is given.
func readSample(cmd *cobra.Command, text string, o *rebuild.Options) (share float64, err error) {
	if !cmd.Flags().Changed("seed") {
		o.Seed = rand.Uint64N(1 << 32)
	}
	percent, isShare := strings.CutSuffix(text, "%")
	switch {
	case !cmd.Flags().Changed("sample"):
		return 0, nil
	case o.Target == "":
		share, err = strconv.ParseFloat(percent, 64)
		if !isShare || err != nil || !(share > 0 && share <= 100) {
			return 0, fmt.Errorf("--sample %s: want a share of the bytes, such as 5%%; a number of steps is for --rebuild", text)
		}
		return share / 100, nil
	}
	if o.Sample, err = strconv.Atoi(text); err != nil || o.Sample < 1 {
		return 0, fmt.Errorf("--sample %s: want the number of steps to pick, at least 1", text)
	}
	return 0, nil
}

func (a *app) rebuild(ctx context.Context, o rebuild.Options) error {
	o.Picked = func(sample, of int) {
		if !a.JSON {
			view.Printf(a.Out, "%d of %s, picked by --seed %d\n", sample, view.Count(of, "step"), o.Seed)
		}
	}
	o.Each = func(done rebuild.Step) {
		if !a.JSON {
			view.RebuiltStep(a.Out, done, a.hint)
		}
	}
	said, stopped := rebuild.Run(ctx, a.Session, a.localActivities, o)
	if said == nil {
		return stopped
	}
	err := a.print(said, nil, func(w io.Writer) { view.RebuiltAll(w, said, o.Budget) })
	if err := cmp.Or(stopped, err); err != nil {
		return err
	}
	return said.Failure()
}

// localActivities returns this process's activities, for work without a server.
func (a *app) localActivities(store *artifacts.Resolver) *activities.Activities {
	return a.Activities(store, nil, workflows.Features{})
}

func newKeepCmd(a *app) *cobra.Command {
	var as string
	var drop []string
	var only bool
	cmd := &cobra.Command{
		Use:   "keep [RUN | ADDRESS...]",
		Short: "Keep a run, or results and all that they need, from garbage collection, by name",
		Long: `They stay until --drop. RUN is an id, a part of one, last or last~N; its results, record and logs
stay whatever --keep-runs and --keep-within say. ADDRESS is a table, a figure, a step or a block of
steps of the pipeline, whose results of now stay, with all that they need, whatever becomes of the
runs that made them. Without arguments, list what is kept.`,
		Example: `  redsi keep last --as submitted
  redsi keep table.dedup_counts step.train.dsi --as camera-ready
  redsi keep
  redsi keep --drop submitted`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.OpenOwn(cmd.Context())
			if err != nil {
				return err
			}
			pins, err := artifacts.Pins(cmd.Context(), store.Own)
			if err != nil {
				return err
			}
			switch {
			case len(drop) > 0 && len(args) > 0:
				return fault.Input(errors.New("give either what to keep or --drop, not both"))
			case len(drop) > 0:
				return a.dropPins(cmd.Context(), store.Own, pins, drop)
			case len(args) == 0 && (as != "" || only):
				return fault.Input(misused(cmd, errors.New("name a run, or a table, figure or step")))
			case len(args) == 0:
				return a.printPins(pins)
			}
			p, keys, err := a.toKeep(cmd.Context(), store, args, only)
			if err != nil {
				return err
			}
			if p.Name = as; as == "" && len(args) > 1 {
				return fault.Input(errors.New("several addresses are kept under one name: give it by --as NAME"))
			} else if as == "" {
				p.Name = p.Of
			}
			if i := slices.IndexFunc(pins, func(x artifacts.Pin) bool { return x.Name == p.Name }); i >= 0 {
				return fault.Input(fmt.Errorf("%s is the name of %s, which is kept since %s: give another one by --as, or let that go with `%s`",
					p.Name, pins[i].Of, pins[i].Since.Local().Format(time.DateTime), a.hint("keep", "--drop", p.Name)))
			}
			if err := artifacts.PutPin(cmd.Context(), store.Own, p, keys); err != nil {
				return err
			}
			p.Results = len(keys)
			return a.printPins([]artifacts.Pin{p})
		},
	}
	f := cmd.Flags()
	f.StringVar(&as, "as", "", "the name to keep it by (default: the run's id, or the address)")
	f.BoolVar(&only, "only", false, "of addresses: without what they need")
	f.StringArrayVar(&drop, "drop", nil, "keep what has this `NAME` no longer; may be repeated")
	return with(cmd, a.pipelineFlags)
}

func (a *app) printPins(pins []artifacts.Pin) error {
	return a.print(map[string]any{"kept": pins}, nil, func(w io.Writer) { view.Pins(w, pins, a.hint) })
}

func (a *app) toKeep(ctx context.Context, store *artifacts.Resolver, args []string, only bool) (p artifacts.Pin, keys []artifacts.Digest, err error) {
	p.Since = time.Now().UTC().Truncate(time.Second)
	isRun := func(arg string) bool { return !strings.Contains(strings.TrimPrefix(arg, "last"), ".") }
	if !slices.ContainsFunc(args, isRun) {
		p.Of, a.Targets = strings.Join(args, ", "), args
		keys, err = transfer.Keys(ctx, a.Session, store, only)
		return p, keys, err
	}
	switch {
	case len(args) > 1:
		return p, nil, fault.Input(errors.New("give either one run, or addresses such as table.NAME and step.KIND.NAME"))
	case only:
		return p, nil, fault.Input(errors.New("--only is of addresses: a run is kept with all its results"))
	}
	rec, err := a.FindRun(ctx, store.Own, args[0])
	if err != nil {
		return p, nil, err
	}
	p.Of, p.Run = rec.RunID, rec.RunID
	return p, nil, nil
}

// dropPins removes the named pins, or none of them if a name has no pin.
func (a *app) dropPins(ctx context.Context, s artifacts.Store, pins []artifacts.Pin, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(pins, func(p artifacts.Pin) bool { return p.Name == name }) {
			return fault.Input(fmt.Errorf("nothing is kept as %q; `%s` lists what is", name, a.hint("keep")))
		}
	}
	for _, name := range names {
		if err := s.Records.Delete(ctx, artifacts.PinsPrefix+name); err != nil {
			return err
		}
	}
	return a.print(map[string]any{"dropped": names}, nil, func(w io.Writer) {
		for _, name := range names {
			view.Printf(w, "%s is kept no longer; `%s` deletes what no run and no other name keeps\n", name, a.hint("gc"))
		}
	})
}

func newDuCmd(a *app) *cobra.Command {
	by, all := "block", false
	cmd := &cobra.Command{
		Use:   "du",
		Short: "Say which steps, kinds or runs the bytes of the store are of",
		Long: `Results share bytes: "bytes" are all that a group's results have, "only here" the bytes that no
other group's have. The largest groups come first.`,
		Example: `  redsi du
  redsi du --by run`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			group, ok := usageBy[by]
			if !ok {
				return fault.Input(fmt.Errorf("--by %s: want block, step, kind or run", by))
			}
			store, err := a.OpenOwn(cmd.Context())
			if err != nil {
				return err
			}
			tell, over := a.telling("looking through the store")
			groups, total, err := artifacts.Usages(cmd.Context(), store.Own, group, tell)
			over()
			return a.print(map[string]any{"by": by, "groups": groups, "bytes": total.Bytes, "of_no_result": total.Only}, err, func(w io.Writer) {
				view.Usages(w, groups, total, all)
			})
		},
	}
	cmd.Flags().StringVar(&by, "by", by, "block, step, kind or run")
	cmd.Flags().BoolVar(&all, "all", false, "list all groups, not only the largest")
	return cmd
}

var usageBy = map[string]artifacts.UsageBy{
	"step":  func(step string, _ []string) []string { return []string{runs.StepOf(step)} },
	"block": func(step string, _ []string) []string { return []string{address.Of(runs.StepOf(step)).Block()} },
	"kind": func(step string, _ []string) []string {
		kind, _, _ := strings.Cut(strings.TrimPrefix(address.Of(runs.StepOf(step)).Name, "step."), ".")
		return []string{kind}
	},
	"run": func(_ string, ids []string) []string {
		if len(ids) == 0 {
			return []string{"no run"}
		}
		return ids
	},
}
