package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/compare"
	"github.com/redsi/redsi/internal/system/fault"
)

func newSameCmd(a *app) *cobra.Command {
	var write string
	var results bool
	cmd := &cobra.Command{
		Use:   "same A B | RUN --write FILE",
		Short: "Say whether two runs are the same study: exit 0 if they are, 1 if not",
		Long: `Two runs are the same study if they have the same steps with the same keys, and the same bytes, or
bytes within what their kind allows ("redsi kinds NAME" says how each output is compared).

A and B are runs, by an id, a part of one, last or last~N, or files that --write wrote: a snapshot
of a run, with keys and digests, to be kept in version control and compared with runs elsewhere.
What has other bytes than a snapshot says is compared by its kind's rule where the store has both.
Models are judged by the steps that evaluate them.

Where GITHUB_ACTIONS is set, each step that differs is an annotation at its line of the pipeline.`,
		Example: `  redsi same last~1 last
  redsi same last --write study.json    # once; then, after a run in CI:
  redsi same study.json last
  redsi same study.json last --results  # other keys do not matter: another version of the program, say`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) != (write != "") {
				return fault.Input(misused(cmd, errors.New("give two to compare, or one and --write FILE")))
			}
			ctx := cmd.Context()
			a.ReadResults(ctx)
			store, err := a.OpenStore(ctx)
			if err != nil {
				return err
			}
			var of []*compare.Snapshot
			for _, arg := range args {
				s, err := a.snapshot(ctx, store, arg)
				if err != nil {
					return err
				}
				of = append(of, s)
			}
			if write != "" {
				return a.writeForm(write, func(w io.Writer) error { return view.WriteJSON(w, of[0]) })
			}
			pairs, err := compare.Same(ctx, a.Registry, store, of[0], of[1])
			if err != nil {
				return err
			}
			differ := slices.ContainsFunc(pairs, func(p compare.Pair) bool { return !p.Ok(results) })
			err = a.print(map[string]any{"a": of[0].Run, "b": of[1].Run, "same": !differ, "steps": pairs}, func(w io.Writer) {
				view.Same(w, a.style(w), of[0].Run, of[1].Run, pairs, results)
			})
			if os.Getenv("GITHUB_ACTIONS") == "true" {
				view.AnnotatePairs(a.Err, pairs, results)
			}
			if err == nil && differ {
				err = fault.Printed(fault.CodeFailed)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&write, "write", "", "write the snapshot of a run to this `FILE`; - is standard output")
	cmd.Flags().BoolVar(&results, "results", false, "results alone count, whatever keys they have")
	return with(cmd, a.fromFlags, a.pipelineFlags)
}

// snapshot is of a run, or of a file.
func (a *app) snapshot(ctx context.Context, store *artifacts.Resolver, name string) (*compare.Snapshot, error) {
	if at, err := os.Stat(name); err == nil && !at.IsDir() {
		s, err := compare.ReadSnapshot(ctx, store, name)
		if err != nil {
			err = fault.Input(err)
		}
		return s, err
	}
	rec, err := a.FindRun(ctx, store.Own, name)
	if err != nil {
		return nil, err
	}
	return compare.Take(ctx, store, rec)
}
