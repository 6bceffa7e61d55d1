package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/git"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/compare"
	"github.com/redsi/redsi/internal/session/variants"
	"github.com/redsi/redsi/internal/system/fault"
)

type diffOptions struct {
	all      bool
	markdown string // file; "-" is standard output
	exitCode bool
}

func newDiffCmd(a *app) *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use:   "diff RUN_A RUN_B | REV | REV..[REV] | DIR_A DIR_B",
		Short: "Compare two runs, or show what a change costs: which steps lose their results, why, and how long they take",
		Long: `For two runs: which steps differ, what changed in their keys, which outputs differ, and which
comparisons with the paper have a new verdict. For tables and figures the cells that differ are shown, for JSON the
fields, for short texts the lines, otherwise the sizes. A run is named by its id or a unique part of it, last, or
last~1 for the one before. Steps that do the same work under another name are shown as such.

For two versions of the pipeline, what the change costs: which steps go from HIT to RUN or MAYBE,
which attribute at which line causes that, which tables and claims are affected, and how long the
steps are expected to take. Nothing is run.

  REV               that commit, branch or tag, and the files as they are here
  REV..REV2         two commits; REV.. is REV..HEAD
  REV...REV2        the last commit that both have in common, and REV2
  DIR_A DIR_B       two folders or pipeline files

Files of a commit are read from git's objects: nothing is checked out, no hook and no filter runs, and for Git LFS the
pointer is enough. Files that the commit does not have, such as data that is not under version control, are read as
they are here. A name that is both a run and a folder is an error: write ./NAME for the folder.`,
		Example: `  redsi diff last~1 last
  redsi diff last~1 last --verbose                   # all values and lines
  redsi diff 20261121T103628Z-7710bece last --json
  redsi diff HEAD                                    # what the files as they are here would cost
  redsi diff main..HEAD --markdown cost.md
  redsi diff main...HEAD --exit-code                 # 0: the change makes nothing run, 3: it does
  redsi diff ../paper-v1 .`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return a.diff(cmd.Context(), args, o) },
	}
	f := cmd.Flags()
	f.BoolVarP(&o.all, "verbose", "v", false, "show all values, lines and steps that differ")
	f.StringVar(&o.markdown, "markdown", "", "for versions: write what the change costs as Markdown, for a pull request, to this `FILE`; - is standard output")
	f.BoolVar(&o.exitCode, "exit-code", false, "for versions: exit 3 if the change makes something run")
	return with(cmd, a.fromFlags, a.pipelineFlags, a.targetFlag)
}

func (a *app) diff(ctx context.Context, args []string, o diffOptions) error {
	if len(args) == 1 {
		x, y, err := variants.Revisions(ctx, a.File, args[0])
		if err != nil {
			return err
		}
		return a.impact(ctx, x, y, o)
	}
	folders := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { _, err := os.Stat(arg); return err != nil })
	if len(folders) > 0 {
		store, err := a.OpenOwn(ctx)
		if err != nil {
			return err
		}
		for _, arg := range folders {
			if strings.ContainsAny(arg, "/.") {
				continue
			}
			if _, err := a.FindRun(ctx, store.Own, arg); err == nil {
				return fault.Input(fmt.Errorf("%s is both a run and a file or folder here: write ./%[1]s for the latter, or all of the run's id", arg))
			}
		}
		for i, arg := range args {
			if !slices.Contains(folders, arg) {
				return fault.Input(fmt.Errorf("%s is a file or folder, but %s does not exist: give two folders, two runs, or one range of commits such as main..HEAD", args[1-i], arg))
			}
		}
		if a.cmd.Flags().Changed("file") {
			return fault.Input(errors.New("--file names one pipeline, but two are given: leave it out"))
		}
		return a.impact(ctx, variants.Variant{Name: args[0], File: args[0]}, variants.Variant{Name: args[1], File: args[1]}, o)
	}
	if o.markdown != "" || o.exitCode {
		return fault.Input(fmt.Errorf("--markdown and --exit-code compare two versions, but %s and %s are runs: give a range of commits such as main..HEAD, or two folders", args[0], args[1]))
	}
	a.ReadResults(ctx)
	store, err := a.OpenStore(ctx)
	if err != nil {
		return err
	}
	var of [2]*runs.Record
	for i, arg := range args {
		if of[i], err = a.FindRun(ctx, store.Own, arg); err == nil {
			continue
		}
		if _, other := git.Resolve(ctx, session.ProjectDir(a.File), arg); other == nil {
			err = fault.Input(fmt.Errorf("%w; for two commits write `%s`", err, a.hint("diff", args[0]+".."+args[1])))
		}
		return err
	}
	x, y := of[0], of[1]
	ds, same, err := compare.Runs(ctx, store, a.Differ(ctx, store), x, y)
	return a.print(map[string]any{"a": x.RunID, "b": y.RunID, "same": same, "steps": ds}, err, func(w io.Writer) {
		view.RunsDiffer(w, a.style(w), x.RunID, y.RunID, ds, same, o.all)
	})
}

func (a *app) impact(ctx context.Context, x, y variants.Variant, o diffOptions) error {
	r, err := variants.Impact(ctx, a.Session, x, y, a.printDiagnostics)
	if err != nil {
		return err
	}
	if err := a.writeForm(o.markdown, func(w io.Writer) error { return view.ImpactMarkdown(w, r) }); err != nil {
		return err
	}
	if a.JSON || o.markdown != "-" {
		if err := a.print(r, nil, func(w io.Writer) { view.Impact(w, r, a.style(w), o.all) }); err != nil {
			return err
		}
	}
	if o.exitCode && r.Runs() {
		return fault.Printed(fault.CodePending)
	}
	return nil
}

func newSameCmd(a *app) *cobra.Command {
	var write string
	var results bool
	cmd := &cobra.Command{
		Use:   "same A B | RUN --write FILE",
		Short: "Say whether two runs are the same study: exit 0 if they are, 1 if not",
		Long: `Two runs are the same study if they have the same steps with the same keys, and the same bytes, or
bytes within what their kind allows ("redsi kinds NAME" says how each output is compared).

A and B are runs, by an id, a part of one, last or last~N, or files that --write wrote: a snapshot of a run, with keys
and digests, to be kept in version control and compared with runs elsewhere. What has other bytes than a snapshot says
is compared by its kind's rule where the store has both. Models are judged by the steps that evaluate them.

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
			err = a.print(map[string]any{"a": of[0].Run, "b": of[1].Run, "same": !differ, "steps": pairs}, nil, func(w io.Writer) {
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
	cmd.Flags().BoolVar(&results, "results", false, "compare only results, whatever keys they have")
	return with(cmd, a.fromFlags, a.pipelineFlags)
}

func (a *app) snapshot(ctx context.Context, store *artifacts.Resolver, name string) (*compare.Snapshot, error) {
	if at, err := os.Stat(name); err == nil && !at.IsDir() {
		s, err := compare.ReadSnapshot(ctx, store, name)
		return s, fault.Input(err)
	}
	rec, err := a.FindRun(ctx, store.Own, name)
	if err != nil {
		return nil, err
	}
	return compare.Take(ctx, store, rec)
}
