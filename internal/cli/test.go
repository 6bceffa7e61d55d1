package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/testfile"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

func newTestCmd(a *app) *cobra.Command {
	var filter string
	cmd := &cobra.Command{
		Use:   "test [FILE|FOLDER...]",
		Short: "Run the tests of a pipeline, *.test.hcl: assertions about plans and about cells of tables",
		Long: `Runs the run blocks of files whose names end in ` + pipeline.TestSuffix + `, by default those in
this folder. A run plans the pipeline next to it, or runs what its targets need, with its
own variables, and then checks its assertions; docs/pipelines.md describes the files. Runs
of one file share a temporary store, empty at first, unless --store names one, and the
embedded server that command = apply needs. Neither the pipeline's lock file nor its
results are touched.

Exit code 0 if all tests pass, 1 if one fails, 2 if a file is invalid.`,
		Example: `  redsi test
  redsi test --filter 'counts' examples/kmeans-study
  redsi test --json | jq '.tests[] | select(.outcome != "pass")'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			match, err := regexp.Compile(filter)
			if err != nil {
				return fault.Input(fmt.Errorf("--filter: %w", err))
			}
			files, err := testFiles(args)
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

// testFiles lists the test files that arguments name.
func testFiles(args []string) (files []string, err error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			return nil, fault.Input(err)
		case info.IsDir():
			found, err := filepath.Glob(filepath.Join(escapeGlob(arg), "*"+pipeline.TestSuffix))
			if err != nil || len(found) == 0 {
				return nil, fault.Input(fmt.Errorf("there is no *%s in %s", pipeline.TestSuffix, arg))
			}
			files = append(files, found...)
		case !strings.HasSuffix(arg, pipeline.TestSuffix):
			return nil, fault.Input(fmt.Errorf("%s is not a test file: its name does not end in %s", arg, pipeline.TestSuffix))
		default:
			files = append(files, arg)
		}
	}
	return files, nil
}

func escapeGlob(path string) string {
	return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(path, `\$0`)
}

// testResult is the outcome of one run block.
type testResult struct {
	File       string             `json:"file"`
	Line       int                `json:"line"`
	Name       string             `json:"name"`
	Command    string             `json:"command"`
	Outcome    string             `json:"outcome"` // pass, fail, or error: it could not run
	Assertions int                `json:"assertions"`
	TookS      float64            `json:"took_s"`
	Failures   []testfile.Failure `json:"failures,omitempty"`
	Error      string             `json:"error,omitempty"`
}

// serverEnds is how long the end of the tests' server may take.
const serverEnds = 30 * time.Second

// tester runs tests, one after the other.
type tester struct {
	a       *app
	keep    bool   // keep results, in the store that was named
	dir     string // for everything that tests write
	results []testResult
}

func (t *tester) all(ctx context.Context, names []string, match *regexp.Regexp) error {
	var files []*testfile.File
	for _, name := range names {
		b, err := pipeline.ReadFile(name)
		if err != nil {
			return fault.Input(err)
		}
		f, ds := testfile.Parse(filepath.ToSlash(name), b)
		if err := t.a.printLoaded(ds); err != nil {
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
	b.cmd, b.waits = t.a.cmd, t.a.waits
	defer func() {
		b.close()
		patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), serverEnds)
		defer cancel()
		if err := devserver.End(patient, filepath.Join(b.StateDir, "temporal")); err != nil {
			t.a.Log.Warn("the server of the tests", "err", err)
		}
		if err := os.RemoveAll(t.dir); err != nil {
			t.a.Log.Warn("what the tests left", "err", err)
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
			t.one(ctx, b, f, r)
		}
	}
	return t.conclude()
}

// one runs one test with an app that has its own state and store.
func (t *tester) one(ctx context.Context, b *app, f *testfile.File, r *testfile.Run) {
	began := time.Now()
	out := testResult{File: f.Name, Line: r.Line, Name: r.Name, Command: r.Command, Outcome: "pass", Assertions: len(r.Asserts)}
	var said bytes.Buffer
	b.Err, b.sayer.w = &said, &said
	failures, err := t.try(ctx, b, f, r)
	var failed *workflows.RunError
	switch out.Failures = failures; {
	case errors.As(err, &failed):
		out.Outcome, out.Error = "fail", err.Error()
	case err != nil:
		out.Outcome, out.Error = "error", strings.TrimSpace(said.String())
		if !fault.Silent(err) {
			out.Error = err.Error()
		}
	case len(failures) > 0:
		out.Outcome = "fail"
	}
	out.TookS = time.Since(began).Seconds()
	t.results = append(t.results, out)
	if !t.a.JSON {
		t.print(out)
	}
}

func (t *tester) try(ctx context.Context, b *app, f *testfile.File, r *testfile.Run) ([]testfile.Failure, error) {
	b.File, b.Targets = t.pipelineOf(f, r), r.Targets
	b.Lock = filepath.Join(t.dir, lockfile.Name)
	if err := copyIfThere(filepath.Join(session.ProjectDir(b.File), lockfile.Name), b.Lock); err != nil {
		return nil, err
	}
	b.Weaker = r.Variables
	scope, p, err := b.OpenScope(ctx)
	if err != nil {
		return nil, err
	}
	v, err := b.testPlan(ctx, p)
	if err != nil {
		return nil, err
	}
	w := testfile.World{Scope: scope, Steps: testSteps(p, v)}
	if r.Command == testfile.Apply {
		if err := b.run(ctx, runOptions{cluster: clusterOptions{embedded: true}, outDir: filepath.Join(t.dir, "results"), quiet: true}); err != nil {
			return nil, err
		}
		if v, err = b.testPlan(ctx, p); err != nil {
			return nil, err
		}
		if err := b.left(ctx, v, &w); err != nil {
			return nil, err
		}
	}
	return r.Check(w)
}

// pipelineOf is the pipeline that a run names, or the one beside its file.
func (t *tester) pipelineOf(f *testfile.File, r *testfile.Run) string {
	dir := filepath.Dir(f.Name)
	if r.Pipeline != "" {
		return filepath.Join(dir, filepath.FromSlash(r.Pipeline))
	}
	if usual := filepath.Join(dir, pipeline.DefaultFile); fileExists(usual) {
		return usual
	}
	return dir
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// copyIfThere copies from to to, or removes to if from does not exist.
func copyIfThere(from, to string) error {
	b, err := os.ReadFile(from)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.Remove(to); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

func (a *app) testPlan(ctx context.Context, p *pipeline.Pipeline) (*plan.Preview, error) {
	pl, err := a.PlanOf(ctx, p, a.File, a.Targets)
	if err != nil {
		return nil, err
	}
	store, err := a.OpenStore(ctx)
	if err != nil {
		return nil, err
	}
	return a.PreviewOf(ctx, store, pl, session.KeepAll)
}

// testSteps are the steps of a plan as assertions see them.
func testSteps(p *pipeline.Pipeline, v *plan.Preview) (steps []testfile.Step) {
	at := make(map[string]int, len(p.Steps))
	for i, s := range p.Steps {
		at[s.Address] = i
	}
	for i, s := range v.Plan.Steps {
		x := p.Steps[at[s.Address]]
		tree, err := x.Task.Tree()
		if err != nil {
			panic(fmt.Sprintf("%s: %v", s.Address, err)) // made by the loader
		}
		steps = append(steps, testfile.Step{Address: s.Address, Block: x.Block, Kind: x.Kind, Name: x.Name, Key: x.Key,
			Outcome: strings.ToUpper(string(v.Items[i].Outcome)), Config: tree})
	}
	return steps
}

// left lets assertions read the results of a run.
func (a *app) left(ctx context.Context, v *plan.Preview, w *testfile.World) error {
	store, err := a.OpenStore(ctx)
	if err != nil {
		return err
	}
	results := map[string]*artifacts.Result{}
	for i, it := range v.Items {
		results[v.Plan.Steps[i].Address] = it.Result
	}
	find := func(address string) (*artifacts.Result, error) {
		if r := results[address]; r != nil {
			return r, nil
		}
		return nil, errors.New("it has no result after the run")
	}
	w.Rows = func(address string) (map[string]any, error) {
		r, err := find(address)
		if err != nil {
			return nil, err
		}
		b, err := artifacts.ReadBlob(ctx, store.Blobs, r.Outputs["json"].Digest, pipeline.MaxFile)
		if err != nil {
			return nil, err
		}
		return cellsOf(b)
	}
	w.Outputs = func(address string) (map[string]any, error) {
		r, err := find(address)
		if err != nil {
			return nil, err
		}
		return outputsOf(ctx, store, r)
	}
	return nil
}

// cellsOf are the cells of a table by row and column: numbers, texts, or null.
func cellsOf(b []byte) (map[string]any, error) {
	var t render.Table
	if err := json.Unmarshal(b, &t); err != nil {
		return nil, err
	}
	rows := map[string]any{}
	for _, r := range t.Rows {
		if r.ID == "" {
			continue
		}
		cells := map[string]any{}
		for column, c := range r.Cells {
			switch {
			case c.Value != nil:
				cells[column] = *c.Value
			case c.Text != "":
				cells[column] = c.Text
			default:
				cells[column] = nil
			}
		}
		rows[r.ID] = cells
	}
	return rows, nil
}

// shownText bounds the files whose text an assertion can read.
const shownText = 64 << 10

// outputsOf are a step's outputs: digest, size and, of small UTF-8 files, the text.
func outputsOf(ctx context.Context, store artifacts.Store, r *artifacts.Result) (map[string]any, error) {
	file := func(d artifacts.Digest, size int64) (map[string]any, error) {
		x := map[string]any{"digest": d.String(), "size": size, "text": nil}
		if size > shownText {
			return x, nil
		}
		b, err := artifacts.ReadBlob(ctx, store.Blobs, d, shownText)
		if err == nil && utf8.Valid(b) {
			x["text"] = string(b)
		}
		return x, err
	}
	out := map[string]any{}
	for name, art := range r.Outputs {
		var x map[string]any
		var err error
		if art.Files == nil {
			x, err = file(art.Digest, art.Size)
		} else {
			files := map[string]any{}
			for _, f := range art.Files {
				one, ferr := file(f.Digest, f.Size)
				files[f.Name], err = one, cmp.Or(err, ferr)
			}
			x = map[string]any{"digest": art.Digest.String(), "size": art.Size, "files": files}
		}
		if err != nil {
			return nil, err
		}
		out[name] = x
	}
	return out, nil
}

func (t *tester) print(r testResult) {
	word := map[string]string{"pass": "pass ", "fail": "FAIL ", "error": "ERROR"}[r.Outcome]
	view.Printf(t.a.Out, "%s  %s:%d  %s  (%s, %s, %s)\n", word, r.File, r.Line, r.Name, r.Command, view.Count(r.Assertions, "assertion"),
		view.Seconds(time.Duration(r.TookS*float64(time.Second))))
	if r.Error != "" {
		view.Printf(t.a.Out, "       %s\n", view.Lines(r.Error))
	}
	for _, f := range r.Failures {
		view.Printf(t.a.Out, "       %s:%d: %s\n", f.File, f.Line, view.Lines(f.Message))
		view.Printf(t.a.Out, "         %s\n", view.Lines(f.Condition))
		for _, v := range f.Values {
			if v.Value == v.Expression {
				view.Printf(t.a.Out, "         | %s\n", view.Lines(v.Value))
			} else {
				view.Printf(t.a.Out, "         | %s is %s\n", view.Lines(v.Expression), view.Lines(v.Value))
			}
		}
	}
}

func (t *tester) conclude() error {
	count := map[string]int{}
	for _, r := range t.results {
		count[r.Outcome]++
	}
	if t.a.JSON {
		if t.results == nil {
			t.results = []testResult{}
		}
		err := view.WriteJSON(t.a.Out, map[string]any{"tests": t.results, "passed": count["pass"], "failed": count["fail"], "errors": count["error"]})
		if err != nil {
			return err
		}
	} else {
		view.Printf(t.a.Out, "%s: %d passed, %d failed", view.Count(len(t.results), "test"), count["pass"], count["fail"])
		if count["error"] > 0 {
			view.Printf(t.a.Out, ", %d could not run", count["error"])
		}
		view.Printf(t.a.Out, ".\n")
	}
	switch {
	case count["error"] > 0:
		return fault.Printed(fault.CodeInput)
	case count["fail"] > 0:
		return fault.Printed(fault.CodeFailed)
	}
	return nil
}
