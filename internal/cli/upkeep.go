package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/internal/system/fault"
)

// straysShown is how many strays verify prints; --json has all.
const straysShown = 20

func newVerifyCmd(a *app) *cobra.Command {
	var repair bool
	var o rebuild.Options
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check every stored byte against its digest; with --rebuild, run steps again and compare",
		Long: `Check every stored byte against its digest and every result against its outputs.

With --rebuild, run steps again, on this machine, each from its existing inputs, and
compare: same bytes, within tolerance ("redsi kinds NAME" says how each output is
compared), or different, with exit code 1. For a step or a block with for_each its
steps are run; for a table or figure all that it needs, in the order of the plan.
Existing results stay; differing bytes are kept next to them, with an attestation for
each step, signed if you have a signing key.`,
		Example: `  redsi verify
  redsi verify --repair   # removes what is damaged, so that the next run makes it again; strays go to aside/
  redsi verify --rebuild 'step.dedup.nq["url"]'
  redsi verify --rebuild table.dedup_counts --sample 5 --budget 2h`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Target != "" {
				if repair {
					return fault.Input(errors.New("give either --rebuild or --repair, not both"))
				}
				if err := checkRebuild(cmd, &o); err != nil {
					return fault.Input(err)
				}
				return a.rebuild(cmd.Context(), o)
			}
			store, err := a.OpenOwn(cmd.Context())
			if err != nil {
				return err
			}
			r, err := artifacts.Check(cmd.Context(), store, artifacts.CheckOptions{Repair: repair})
			if err != nil {
				return err
			}
			problems := make([]string, len(r.Problems))
			left := 0
			for i, p := range r.Problems {
				problems[i] = p.String()
				if !p.Repaired {
					left++
				}
			}
			strays := make([]string, len(r.Strays))
			for i, s := range r.Strays {
				strays[i] = s.String()
			}
			if a.JSON {
				err = view.WriteJSON(a.Out, map[string]any{"results": r.Results, "blobs": r.Blobs, "bytes": r.Bytes, "problems": problems, "strays": strays, "elsewhere": r.Elsewhere})
			} else {
				for _, p := range problems {
					view.Println(a.Out, p)
				}
				for _, s := range strays[:min(len(strays), straysShown)] {
					view.Println(a.Out, s)
				}
				if n := len(strays); n > 0 && !repair {
					view.Printf(a.Out, "%s among blobs and records that the store did not write and never reads; `%s` moves them to aside/\n", view.Count(n, "stray"), a.hint("verify", "--repair"))
				} else if n > straysShown {
					view.Printf(a.Out, "%s in all; --json lists all\n", view.Count(n, "stray"))
				}
				view.Elsewhere(a.Out, r.Elsewhere)
				view.Printf(a.Out, "%s, %s, %s read; %s\n",
					view.Count(r.Results, "result"), view.Count(r.Blobs, "blob"), view.Size(r.Bytes), view.Count(len(problems), "problem"))
			}
			if err == nil && left > 0 {
				return fault.Failed(fmt.Errorf("%s left; `%s` removes what is damaged", view.Count(left, "problem"), a.hint("verify", "--repair")))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "remove damaged blobs and the results that need them; move foreign files in the store to its aside/")
	cmd.Flags().StringVar(&o.Target, "rebuild", "", "run this again, on this machine, and compare with the existing results, which stay: a step, or a table and all that it needs")
	addRebuildFlags(cmd, &o)
	a.pipelineFlags(cmd)
	a.fromFlags(cmd)
	onlyWith(cmd, "rebuild", slices.Concat(rebuildFlags, fromFlags)...)
	return cmd
}

func newGCCmd(a *app) *cobra.Command {
	o := artifacts.GCOptions{}
	var free string
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Delete results that no run uses any more, cheapest to rebuild first",
		Example: `  redsi gc --dry-run
  redsi gc --keep-runs 5 --free 50GB`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("free") { // even if "": 0 would be no limit
				var err error
				if o.Free, err = sizeOf("--free", free, "50GB"); err != nil {
					return err
				}
			}
			if o.KeepRuns < 0 || o.Grace < 0 {
				return fault.Input(errors.New("--keep-runs and --grace cannot be negative"))
			}
			o.Grace = max(o.Grace, 1) // 0s means none; Collect's 0 means its default
			store, err := a.OpenOwn(cmd.Context())
			if err != nil {
				return err
			}
			g, err := artifacts.Collect(cmd.Context(), store, o)
			if err != nil {
				return err
			}
			if a.JSON {
				return view.WriteJSON(a.Out, map[string]any{"dry_run": o.DryRun, "results": len(g.Results), "leases": len(g.Leases), "blobs": len(g.Blobs), "bytes": g.Bytes, "kept_bytes": g.Kept, "open_runs": openIDs(g)})
			}
			for _, r := range g.Open {
				view.Printf(a.Out, "run %s has no record: it is running, or ended before it could write one. What is younger than %s stays; "+
					"if it is not running, finish a run of the same plan, or release it with `%s`\n", r.RunID, r.Since.Local().Format(time.DateTime), a.hint("gc", "--forget-run", r.RunID))
			}
			var cost time.Duration
			for _, r := range g.Results {
				cost += r.Took
				view.Printf(a.Out, "%s  %s  %s to rebuild, %s\n", r.Key.Hex()[:12], r.Step, view.Seconds(r.Took), view.Size(r.Bytes))
			}
			verb := "deleted"
			if o.DryRun {
				verb = "would delete"
			}
			if n := len(g.Leases); n > 0 {
				view.Printf(a.Out, "%s %s without a holder\n", verb, view.Count(n, "lease"))
			}
			view.Printf(a.Out, "%s %s and %s, %s (%s to rebuild); %s stay\n", verb,
				view.Count(len(g.Results), "result"), view.Count(len(g.Blobs), "blob"), view.Size(g.Bytes), view.Seconds(cost), view.Size(g.Kept))
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would be deleted, delete nothing")
	f.StringVar(&free, "free", "", "stop when this much is freed, such as 50GB")
	f.IntVar(&o.KeepRuns, "keep-runs", 0, "keep only the results of this many newest runs (default: of all)")
	f.StringArrayVar(&o.Forget, "forget-run", nil, "forget this run without a record, so that it keeps nothing any more; may be repeated")
	f.DurationVar(&o.Grace, "grace", artifacts.DefaultGrace, "keep everything younger than this, even if unused")
	return cmd
}

// openIDs are the runs without a record that gc took into account.
func openIDs(g artifacts.Garbage) []string {
	ids := []string{}
	for _, r := range g.Open {
		ids = append(ids, r.RunID)
	}
	return ids
}
