package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/pipeline/testfile"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/session/world"
	"github.com/redsi/redsi/internal/system/fault"
)

func newTestCmd(a *app) *cobra.Command {
	var filter string
	cmd := &cobra.Command{
		Use:   "test [FILE|FOLDER...]",
		Short: "Run the tests of a pipeline, *.test.hcl: assertions about plans and about cells of tables",
		Long: `Runs the run blocks of files whose names end in ` + syntax.TestSuffix + `, by default those in this
folder. A run plans the pipeline next to it, or runs what its targets need, with its own variables,
and then checks its assertions; docs/pipelines.md describes the files. Runs of one file share a
temporary store, empty at first, unless --store names one, and the embedded server that command =
apply needs. Neither the pipeline's lock file nor its results are touched.

Exit code 0 if all tests pass, 1 if one fails, 2 if a file is invalid.`,
		Example: `  redsi test
  redsi test --filter 'counts' examples/kmeans-study
  redsi test --json | jq '.tests[] | select(.outcome != "pass")'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			match, err := regexp.Compile(filter)
			if err != nil {
				return fault.Input(fmt.Errorf("--filter: %w", err))
			}
			files, err := world.Files(args)
			if err != nil {
				return err
			}
			t := &tester{a: a, keep: cmd.Flags().Changed("store")}
			return t.all(cmd.Context(), files, match)
		},
	}
	cmd.Flags().StringVar(&filter, "filter", "", "run only tests whose names this `REGEXP` matches")
	return cmd
}

// serverEnds is how long the end of the tests' server may take.
const serverEnds = 30 * time.Second

type tester struct {
	a       *app
	keep    bool   // keep results, in the store that was named
	dir     string // for everything that tests write
	results []world.Result
}

func (t *tester) all(ctx context.Context, names []string, match *regexp.Regexp) error {
	var files []*testfile.File
	for _, name := range names {
		b, err := syntax.ReadFile(name)
		if err != nil {
			return fault.Input(err)
		}
		f, ds := testfile.Parse(filepath.ToSlash(name), b)
		if err := t.a.Diagnostics(ds); err != nil {
			return err
		}
		f.Runs = slices.DeleteFunc(f.Runs, func(r *testfile.Run) bool { return !match.MatchString(r.Name) })
		files = append(files, f)
	}
	var err error
	if t.dir, err = os.MkdirTemp("", "redsi-test-"); err != nil {
		return err
	}
	b := newApp(&session.Session{Registry: t.a.Registry, Log: t.a.Log, StateDir: filepath.Join(t.dir, "state")}, io.Discard, nil)
	b.cmd, b.Delays = t.a.cmd, t.a.Delays
	b.Delays.Silent = b.Delays.Say // it has no terminal
	defer func() {
		b.Close()
		patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), serverEnds)
		defer cancel()
		if err := devserver.End(patient, filepath.Join(b.StateDir, "temporal")); err != nil {
			t.a.Log.Warn("the server of the tests did not end", "err", err)
		}
		if err := os.RemoveAll(t.dir); err != nil {
			t.a.Log.Warn("what the tests left could not be removed", "folder", t.dir, "err", err)
		}
	}()
	for i, f := range files {
		if b.StoreURL = t.a.StoreURL; !t.keep {
			b.StoreURL = filepath.Join(t.dir, fmt.Sprintf("store-%d", i))
		}
		for _, r := range f.Runs {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var said bytes.Buffer
			b.Err = view.NewScreen(&said)
			out := world.Try(f, r, func() ([]testfile.Failure, error) { return t.try(ctx, b, f, r) }, func() string { return strings.TrimSpace(said.String()) })
			if t.results = append(t.results, out); !t.a.JSON {
				view.Test(t.a.Out, out)
			}
		}
	}
	count := map[string]int{}
	for _, r := range t.results {
		count[r.Outcome]++
	}
	if !t.a.JSON {
		view.Tests(t.a.Out, count)
	} else if err := view.WriteJSON(t.a.Out, map[string]any{"tests": t.results, "passed": count[world.Pass], "failed": count[world.Fail], "errors": count[world.Error]}); err != nil {
		return err
	}
	switch {
	case count[world.Error] > 0:
		return fault.Printed(fault.CodeInput)
	case count[world.Fail] > 0:
		return fault.Printed(fault.CodeFailed)
	}
	return nil
}

// try runs one test with an app that has its own state and store.
func (t *tester) try(ctx context.Context, b *app, f *testfile.File, r *testfile.Run) ([]testfile.Failure, error) {
	b.File, b.Targets = world.PipelineOf(f, r), r.Targets
	b.Lock = filepath.Join(t.dir, fmt.Sprintf("%d-%s", len(t.results), lockfile.Name)) // a copy
	lock, err := os.ReadFile(filepath.Join(session.ProjectDir(b.File), lockfile.Name))
	if err == nil {
		err = os.WriteFile(b.Lock, lock, 0o644)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	b.Weaker = r.Variables
	scope, p, err := b.OpenScope(ctx)
	if err != nil {
		return nil, err
	}
	v, err := b.PreviewTargets(ctx, p, b.Targets, session.Everything)
	if err != nil {
		return nil, err
	}
	w := testfile.World{Scope: scope, Steps: world.Steps(v.Pipeline, v.Preview)}
	if r.Command == testfile.Apply {
		if err := b.run(ctx, runOptions{RunOptions: drive.RunOptions{Cluster: drive.Cluster{Embedded: true}, InFull: true}, outDir: filepath.Join(t.dir, "results"), quiet: true, above: "never"}); err != nil {
			return nil, err
		}
		if v, err = b.PreviewTargets(ctx, p, b.Targets, session.Everything); err != nil {
			return nil, err
		}
		w.Steps = world.After(w.Steps, world.Steps(v.Pipeline, v.Preview))
		world.Results(ctx, v.Store, v.Preview, &w)
	}
	return r.Check(w)
}
