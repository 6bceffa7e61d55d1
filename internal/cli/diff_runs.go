package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// runDiff is how one step differs between two runs.
type runDiff struct {
	Address string           `json:"address"`
	Was     string           `json:"was,omitempty"` // its address in A, if the same work has another name there
	A       workflows.Status `json:"a,omitempty"`   // "" if the run has no such step
	B       workflows.Status `json:"b,omitempty"`
	Changes []step.Change    `json:"changes,omitempty"`
	Outputs []outputDiff     `json:"outputs,omitempty"`
	Checks  []checkDiff      `json:"checks,omitempty"` // of tables and figures
	Note    string           `json:"note,omitempty"`

	asks []byte // configuration of a table or figure in the second run
}

// outputDiff is an output that differs, or that only one side has.
type outputDiff struct {
	Output string `json:"output"`
	A      string `json:"a,omitempty"`
	B      string `json:"b,omitempty"`
	SizeA  int64  `json:"size_a,omitempty"`
	SizeB  int64  `json:"size_b,omitempty"`

	Values []valueDiff `json:"values,omitempty"` // of tables, figures and JSON
	Lines  string      `json:"lines,omitempty"`  // of texts: a unified diff

	rendering bool // a form of a table or figure whose cells are in another output
}

// compareRuns prints how two runs differ.
func (a *app) compareRuns(ctx context.Context, store artifacts.Store, x, y *workflows.RunRecord, all bool) error {
	ds, same, err := diffRuns(ctx, store, a.differ(ctx, store), x, y)
	if err != nil {
		return err
	}
	if a.JSON {
		return view.WriteJSON(a.Out, map[string]any{"a": x.RunID, "b": y.RunID, "same": same, "steps": ds})
	}
	a.printDiff(x.RunID, y.RunID, ds, same, all)
	return nil
}

// diffRuns pairs the steps of two runs by address, then by key, and returns
// those that differ in A's order, then B's, and how many do not.
func diffRuns(ctx context.Context, store artifacts.Store, differ differ, a, b *workflows.RunRecord) (ds []runDiff, same int, err error) {
	inB := map[string]workflows.RunStep{}
	byKey := map[artifacts.Digest]string{}
	inA := map[string]bool{}
	for _, s := range a.Steps {
		inA[s.Address] = true
	}
	for _, s := range b.Steps {
		inB[s.Address] = s
		if !s.Key.IsZero() && !inA[s.Address] {
			byKey[s.Key] = s.Address
		}
	}
	paired := map[string]bool{}
	expected, err := asks(ctx, store, b)
	if err != nil {
		return nil, 0, err
	}
	for _, x := range a.Steps {
		d := runDiff{Address: x.Address, A: x.Outcome}
		y, ok := inB[x.Address]
		if renamed := byKey[x.Key]; !ok && renamed != "" && !paired[renamed] {
			y, ok = inB[renamed], true
			d.Address, d.Was = renamed, x.Address
		}
		if !ok {
			d.Note = "only in the first run"
			ds = append(ds, d)
			continue
		}
		paired[y.Address] = true
		d.B, d.asks = y.Outcome, expected[y.Address]
		if err := d.compare(ctx, store, differ, x, y); err != nil {
			return nil, 0, err
		}
		if finished(x) && finished(y) && x.Key == y.Key && d.Was == "" {
			same++
			continue
		}
		ds = append(ds, d)
	}
	for _, y := range b.Steps {
		if !paired[y.Address] {
			ds = append(ds, runDiff{Address: y.Address, B: y.Outcome, Note: "only in the second run"})
		}
	}
	return ds, same, nil
}

func finished(s workflows.RunStep) bool {
	return s.Outcome == workflows.Hit || s.Outcome == workflows.Ran
}

// compare says how the key and the outputs of one step differ.
func (d *runDiff) compare(ctx context.Context, store artifacts.Store, differ differ, x, y workflows.RunStep) error {
	switch {
	case d.Was != "":
		d.Note = "the same work under another name"
		return nil
	case y.Outcome == workflows.Failed && y.Error != "":
		d.Note = "second run: " + y.Error
	case x.Outcome == workflows.Failed && x.Error != "":
		d.Note = "first run: " + x.Error
	}
	if x.Key == y.Key || x.Key.IsZero() || y.Key.IsZero() {
		return nil
	}
	entries, err := artifacts.Inspect(ctx, store, []artifacts.Digest{x.Key, y.Key})
	if err != nil {
		return err
	}
	was, is := entries[x.Key].Result, entries[y.Key].Result
	if was == nil || is == nil {
		if d.Note == "" {
			d.Note = "its key differs; a result is no longer in the store, so what changed is unknown"
		}
		return nil
	}
	if d.Changes, err = differ(was.Preimage, is.Preimage); err != nil {
		return fmt.Errorf("%s: %w", d.Address, err)
	}
	d.Outputs = diffOutputs(was.Outputs, is.Outputs)
	if len(d.Outputs) == 0 {
		d.Note = "its outputs are the same bytes"
		return nil
	}
	before, after := flatten(was.Outputs), flatten(is.Outputs)
	for i := range d.Outputs[:min(len(d.Outputs), filesCompared)] {
		o := &d.Outputs[i]
		if err := o.contents(ctx, store, before[o.Output], after[o.Output]); err != nil && !errors.Is(err, artifacts.ErrNotExist) {
			return fmt.Errorf("%s, output %s: %w", d.Address, o.Output, err)
		}
	}
	d.Checks, err = diffChecks(ctx, store, d.Address, d.asks, was, is)
	return err
}

// outputFile is an output, or a file in a tree output.
type outputFile struct {
	digest artifacts.Digest
	typ    string
	size   int64
}

// diffOutputs lists the outputs, and for trees the files, that differ.
func diffOutputs(a, b map[string]artifacts.Artifact) (ds []outputDiff) {
	x, y := flatten(a), flatten(b)
	names := slices.AppendSeq(slices.Collect(maps.Keys(x)), maps.Keys(y))
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		was, is := x[n], y[n]
		if was.digest == is.digest {
			continue
		}
		d := outputDiff{Output: n, SizeA: was.size, SizeB: is.size}
		if !was.digest.IsZero() {
			d.A = was.digest.String()
		}
		if !is.digest.IsZero() {
			d.B = is.digest.String()
		}
		ds = append(ds, d)
	}
	return ds
}

func flatten(outputs map[string]artifacts.Artifact) map[string]outputFile {
	out := map[string]outputFile{}
	for name, o := range outputs {
		if o.Files == nil {
			out[name] = outputFile{o.Digest, o.Type, o.Size}
		}
		for _, f := range o.Files {
			out[name+"/"+f.Name] = outputFile{f.Digest, "file", f.Size}
		}
	}
	return out
}

func (a *app) printDiff(x, y string, ds []runDiff, same int, all bool) {
	st := a.style(a.Out)
	view.Printf(a.Out, "%s -> %s\n", x, y)
	for _, d := range ds {
		view.Printf(a.Out, "%s  %s -> %s", st.Bold(d.Address), orNone(d.A), orNone(d.B))
		if d.Was != "" {
			view.Printf(a.Out, "  was %s", d.Was)
		}
		if d.Note != "" {
			view.Printf(a.Out, "  %s", st.Dim(d.Note))
		}
		view.Println(a.Out)
		for _, c := range d.Changes {
			view.Printf(a.Out, "       %s\n", c)
		}
		for _, o := range d.Outputs {
			if all || !o.rendering {
				a.printOutput(o, all)
			}
		}
		for _, c := range d.Checks {
			view.Printf(a.Out, "       expected: %s -> %s  %s\n", cmp.Or(c.A, "none"), c.B, c.Said)
		}
	}
	differ := " differ"
	if len(ds) == 1 {
		differ = " differs"
	}
	view.Printf(a.Out, "%s, %d the same work.\n", view.Count(len(ds), "step")+differ, same)
}

func orNone(s workflows.Status) string {
	if s == "" {
		return "none"
	}
	return string(s)
}

// shortDigest is the first hex digits of a digest.
func shortDigest(d string) string {
	if d == "" {
		return "none"
	}
	return d[len("sha256:"):][:12]
}
