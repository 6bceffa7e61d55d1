package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/workflows"
)

// rebuildFlags are the flags that say how.
var rebuildFlags = []string{"needs", "sample", "seed", "budget", "threads", "by"}

// addRebuildFlags adds them.
func addRebuildFlags(cmd *cobra.Command, o *rebuild.Options) {
	f := cmd.Flags()
	f.BoolVar(&o.Needs, "needs", false, "with --rebuild: also run all that the step needs, as for a table")
	f.IntVar(&o.Sample, "sample", 0, "with --rebuild: run only this many of the steps, picked uniformly at random (default: all)")
	f.Uint64Var(&o.Seed, "seed", 0, "with --sample: random seed for picking steps (default: a new one each time, which is printed)")
	f.DurationVar(&o.Budget, "budget", 0, "with --rebuild: leave out steps that, going by last time, would not fit into this time, such as 2h (default: none)")
	f.IntVar(&o.Threads, "threads", 0, "with --rebuild: threads per operation of a step that computes (default: as many as for its result, where they matter)")
	f.StringVar(&o.By, "by", "", "with --rebuild: your name in attestations, if you have no signing key")
}

// checkRebuild checks the options, and draws a seed if none is given.
func checkRebuild(cmd *cobra.Command, o *rebuild.Options) error {
	changed := cmd.Flags().Changed
	switch {
	case changed("sample") && o.Sample < 1:
		return fmt.Errorf("--sample %d: want the number of steps to pick, at least 1", o.Sample)
	case changed("seed") && !changed("sample"):
		return errors.New("--seed picks the steps of --sample: give both")
	case changed("budget") && o.Budget <= 0:
		return fmt.Errorf("--budget %s: want a time above 0, such as 2h", o.Budget)
	case changed("threads") && o.Threads < 1:
		return fmt.Errorf("--threads %d: want at least 1", o.Threads)
	}
	if changed("by") {
		if err := attest.CheckBy(o.By); err != nil {
			return fmt.Errorf("--by: %w", err)
		}
	}
	if !changed("seed") {
		o.Seed = rand.Uint64N(1 << 32)
	}
	return nil
}

// rebuild runs steps again, here, and prints how they compare.
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
	said, stopped := rebuild.Run(ctx, a.Session, a.alone, o)
	if said == nil {
		return stopped
	}
	err := a.print(said, func(w io.Writer) { view.RebuiltAll(w, said, o.Budget) })
	if err := cmp.Or(stopped, err); err != nil {
		return err
	}
	return said.Failure()
}

// alone are the activities of this process, for work without a server.
func (a *app) alone(store artifacts.Store) *activities.Activities {
	return a.Activities(store, nil, workflows.Features{})
}
