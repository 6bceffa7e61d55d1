// Package world finds the files of tests, and gives their assertions what came of a plan or a run: steps with their
// outcomes, cells of tables, outputs. It must not know how a pipeline is planned or run.
package world

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/pipeline/testfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/workflows"
)

// Files lists the test files that arguments name or, without arguments, the test files of this folder.
func Files(args []string) (files []string, err error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			return nil, fault.Input(err)
		case info.IsDir():
			found, err := fs.Glob(os.DirFS(arg), "*"+syntax.TestSuffix)
			if err != nil || len(found) == 0 {
				return nil, fault.Input(fmt.Errorf("there is no *%s in %s", syntax.TestSuffix, arg))
			}
			for _, name := range found {
				files = append(files, filepath.Join(arg, name))
			}
		case !strings.HasSuffix(arg, syntax.TestSuffix):
			return nil, fault.Input(fmt.Errorf("%s is not a test file: its name does not end in %s", arg, syntax.TestSuffix))
		default:
			files = append(files, arg)
		}
	}
	return files, nil
}

// PipelineOf is the pipeline that a run names, or the one beside its file.
func PipelineOf(f *testfile.File, r *testfile.Run) string {
	dir := filepath.Dir(f.Name)
	if r.Pipeline != "" {
		return filepath.Join(dir, filepath.FromSlash(r.Pipeline))
	}
	usual := filepath.Join(dir, syntax.DefaultFile)
	if _, err := os.Stat(usual); err == nil {
		return usual
	}
	return dir
}

func Steps(p *pipeline.Pipeline, v *plan.Preview) (steps []testfile.Step) {
	of := lists.By(p.Steps, func(s pipeline.Step) string { return s.Address })
	for i, s := range v.Plan.Steps {
		x := of[s.Address]
		tree, err := x.Task.Tree()
		if err != nil {
			panic(fmt.Sprintf("%s: %v", s.Address, err)) // the loader wrote it
		}
		steps = append(steps, testfile.Step{Address: s.Address, Block: x.Block, Kind: x.Kind, Name: x.Name, Key: x.Key,
			Outcome: strings.ToUpper(string(v.Items[i].Outcome)), Config: tree})
	}
	return steps
}

// After gives the steps after a run the outcomes that they had before it.
func After(before, after []testfile.Step) []testfile.Step {
	was := lists.By(before, func(s testfile.Step) string { return s.Address })
	for i, s := range after {
		after[i].Outcome = cmp.Or(was[s.Address].Outcome, strings.ToUpper(string(plan.Maybe)))
	}
	return after
}

// Results lets assertions read the results of a preview that kept them.
func Results(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, w *testfile.World) {
	places := v.Plan.Places()
	find := func(address string) (*artifacts.Result, error) {
		if i, ok := places[address]; ok && v.Items[i].Result != nil {
			return v.Items[i].Result, nil
		}
		return nil, errors.New("it has no result after the run")
	}
	w.Rows = func(address string) (map[string]any, error) {
		r, err := find(address)
		if err != nil {
			return nil, err
		}
		b, err := artifacts.ReadBlob(ctx, store, r.Outputs["json"].Digest, syntax.MaxFile)
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

const shownText = 64 << 10

// outputsOf are a step's outputs: digest, size and, of small UTF-8 files, the text.
func outputsOf(ctx context.Context, store *artifacts.Resolver, r *artifacts.Result) (map[string]any, error) {
	file := func(d artifacts.Digest, size int64) (map[string]any, error) {
		x := map[string]any{"digest": d.String(), "size": size, "text": nil}
		if size > shownText {
			return x, nil
		}
		b, err := artifacts.ReadBlob(ctx, store, d, shownText)
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

const (
	Pass  = "pass"
	Fail  = "fail"
	Error = "error" // it could not run
)

type Result struct {
	File       string             `json:"file"`
	Line       int                `json:"line"`
	Name       string             `json:"name"`
	Command    string             `json:"command"`
	Outcome    string             `json:"outcome"`
	Assertions int                `json:"assertions"`
	TookS      float64            `json:"took_s"`
	Failures   []testfile.Failure `json:"failures,omitempty"`
	Error      string             `json:"error,omitempty"`
}

// Try runs a test. A failed run is a failed test; after any other error the test could not run; said returns a silent error's text.
func Try(f *testfile.File, r *testfile.Run, try func() ([]testfile.Failure, error), said func() string) Result {
	began := time.Now()
	out := Result{File: f.Name, Line: r.Line, Name: r.Name, Command: r.Command, Outcome: Pass, Assertions: len(r.Asserts)}
	failures, err := try()
	_, failed := errors.AsType[*workflows.RunError](err)
	switch out.Failures = failures; {
	case failed:
		out.Outcome, out.Error = Fail, err.Error()
	case fault.Silent(err):
		out.Outcome, out.Error = Error, said()
	case err != nil:
		out.Outcome, out.Error = Error, err.Error()
	case len(failures) > 0:
		out.Outcome = Fail
	}
	out.TookS = time.Since(began).Seconds()
	return out
}
