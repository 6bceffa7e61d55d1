package cli

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/plan"
	"github.com/redsi/redsi/internal/view"
	"github.com/redsi/redsi/step"
)

func newPlanCmd(a *app) *cobra.Command {
	var detailed, all bool
	var saveTo string
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what is done (HIT), must run (RUN), or depends on a step that must run first (MAYBE)",
		Example: `  redsi plan
  redsi plan --target table.dedup_counts --var scale=toy
  redsi plan --json --detailed-exitcode   # 0: nothing to do, 3: something to run
  redsi plan --out next.plan && redsi apply next.plan`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			v, store, err := a.previewFor(ctx, func(int, *plan.Item) bool { return saveTo != "" })
			if err != nil {
				return err
			}
			a.sayLocal()
			past, err := a.journalOf(ctx, store, v)
			if err != nil {
				return err
			}
			why, err := a.reasons(ctx, store, v, past)
			if err != nil {
				return err
			}
			e, err := a.estimateOf(ctx, store, v, past)
			if err != nil {
				return err
			}
			for format, n := range past.moved {
				a.Log.Warn("keys moved: this pipeline has results under keys in a format that this redsi does not read, so they are not found", "their format", format, "this redsi's", step.KeyFormat, "steps", n)
			}
			if saveTo != "" {
				if err := a.savePlan(v, saveTo); err != nil {
					return err
				}
			}
			if a.JSON {
				err = view.WriteJSON(a.Out, view.NewPlanJSON(v, store.URL, e, why))
			} else {
				view.Plan(a.Out, v, a.style(a.Out), e, why, all)
			}
			if err == nil && detailed && !v.Done() {
				return &exitError{code: exitPending}
			}
			return err
		},
	}
	a.pipelineFlags(cmd)
	a.targetFlag(cmd)
	cmd.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit 0 if there is nothing to do, 3 if there is")
	cmd.Flags().StringVarP(&saveTo, "out", "o", "", "save the plan with its keys in this `FILE`, for redsi apply")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "list hits too")
	return cmd
}

// preview loads the pipeline and looks its results up.
func (a *app) preview(ctx context.Context) (*plan.Preview, artifacts.Store, error) {
	return a.previewFor(ctx, keepAll)
}

// previewFor is preview of a pipeline that may be long: it holds what keep wants.
func (a *app) previewFor(ctx context.Context, keep plan.Keep) (*plan.Preview, artifacts.Store, error) {
	pl, _, err := a.loadPlan(ctx)
	if err != nil {
		return nil, artifacts.Store{}, err
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return nil, store, err
	}
	v, err := a.previewOf(ctx, store, pl, keep)
	return v, store, err
}

func keepAll(int, *plan.Item) bool  { return true }
func keepNone(int, *plan.Item) bool { return false }

func (a *app) previewOf(ctx context.Context, store artifacts.Store, pl *plan.Plan, keep plan.Keep) (*plan.Preview, error) {
	return pl.Follow(ctx, a.Registry, func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return artifacts.LookupMany(ctx, store, keys)
	}, keep)
}

// hostEnv is recorded with results; it is never part of a key.
func hostEnv() map[string]string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	version, devices := libtorch()
	return map[string]string{"host": host, "revision": revision(), "go": runtime.Version(), "libtorch": version, "devices": devices,
		"platform": fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
}
