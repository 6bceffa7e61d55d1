// Package compare says how two runs differ: by steps, what changed in their keys, which
// outputs differ and in which values or lines, and which comparisons with the paper have
// another verdict. It must not know how runs are found, or how differences are shown.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

type Step struct {
	Address string        `json:"address"`
	Was     string        `json:"was,omitempty"` // its address in A, if the same work has another name there
	A       runs.Status   `json:"a,omitempty"`   // "" if the run has no such step
	B       runs.Status   `json:"b,omitempty"`
	Changes []step.Change `json:"changes,omitempty"`
	Outputs []Output      `json:"outputs,omitempty"`
	Checks  []Check       `json:"checks,omitempty"` // of tables and figures
	Note    string        `json:"note,omitempty"`

	asks []byte // configuration of a table or figure in the second run
}

// Output is an output that differs, or that only one side has.
type Output struct {
	Output string           `json:"output"`
	A      artifacts.Digest `json:"a,omitzero"`
	B      artifacts.Digest `json:"b,omitzero"`
	SizeA  int64            `json:"size_a,omitempty"`
	SizeB  int64            `json:"size_b,omitempty"`

	Values []Value `json:"values,omitempty"` // of tables, figures and JSON
	Lines  string  `json:"lines,omitempty"`  // of texts: a unified diff

	Rendering bool `json:"-"` // a form of a table or figure whose cells are in another output
}

// Runs pairs the steps of two runs by address, then by key: it returns the steps that differ, A's first, and counts the others.
func Runs(ctx context.Context, store *artifacts.Resolver, differ journal.Differ, a, b *runs.Record) (ds []Step, same int, err error) {
	of := func(s runs.Step) string { return s.Address }
	inA, inB, paired := lists.By(a.Steps, of), lists.By(b.Steps, of), map[string]bool{}
	byKey := map[artifacts.Digest]string{}
	for _, s := range b.Steps {
		if _, both := inA[s.Address]; !both && !s.Key.IsZero() {
			byKey[s.Key] = s.Address
		}
	}
	expected, err := asks(ctx, store, b)
	if err != nil {
		return nil, 0, err
	}
	for _, x := range a.Steps {
		d := Step{Address: x.Address, A: x.Outcome}
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
		if x.Finished() && y.Finished() && x.Key == y.Key && d.Was == "" {
			same++
			continue
		}
		ds = append(ds, d)
	}
	for _, y := range b.Steps {
		if !paired[y.Address] {
			ds = append(ds, Step{Address: y.Address, B: y.Outcome, Note: "only in the second run"})
		}
	}
	return ds, same, nil
}

func (d *Step) compare(ctx context.Context, store *artifacts.Resolver, differ journal.Differ, x, y runs.Step) error {
	switch {
	case d.Was != "":
		d.Note = "the same work under another name"
		return nil
	case y.Outcome == runs.Failed && y.Error != "":
		d.Note = "second run: " + y.Error
	case x.Outcome == runs.Failed && x.Error != "":
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
		d.Note = cmp.Or(d.Note, "its key differs; a result is no longer in the store, so what changed is unknown")
		return nil
	}
	if d.Changes, err = differ(was.Preimage, is.Preimage); err != nil {
		return fmt.Errorf("%s: %w", d.Address, err)
	}
	before, after := flatten(was.Outputs), flatten(is.Outputs)
	if d.Outputs = diffOutputs(before, after); len(d.Outputs) == 0 {
		d.Note = "its outputs are the same bytes"
		return nil
	}
	for i := range d.Outputs[:min(len(d.Outputs), filesCompared)] {
		o := &d.Outputs[i]
		if err := o.contents(ctx, store, before[o.Output], after[o.Output]); err != nil && !errors.Is(err, artifacts.ErrNotExist) {
			return fmt.Errorf("%s, output %s: %w", d.Address, o.Output, err)
		}
	}
	d.Checks, err = diffChecks(ctx, store, d.Address, d.asks, was, is)
	return err
}

// diffOutputs lists the outputs, and for trees the files, that differ.
func diffOutputs(x, y map[string]artifacts.Artifact) (ds []Output) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(x)), maps.Keys(y))
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		if was, is := x[n], y[n]; was.Digest != is.Digest {
			ds = append(ds, Output{Output: n, A: was.Digest, B: is.Digest, SizeA: was.Size, SizeB: is.Size})
		}
	}
	return ds
}

// flatten has a tree's files in place of the tree.
func flatten(outputs map[string]artifacts.Artifact) map[string]artifacts.Artifact {
	out := map[string]artifacts.Artifact{}
	for name, o := range outputs {
		if o.Files == nil {
			out[name] = o
		}
		for _, f := range o.Files {
			out[name+"/"+f.Name] = artifacts.Artifact{Digest: f.Digest, Type: "file", Size: f.Size}
		}
	}
	return out
}

// Check is a comparison with an expectation whose verdict changed.
type Check struct {
	A    render.Verdict `json:"a,omitempty"` // "": only in the second run
	B    render.Verdict `json:"b"`
	Said string         `json:"said"` // the expectation, and what the second run has
}

// asks reads the configurations, with expectations, of a run's tables and figures, by address; none if its plan has gone.
func asks(ctx context.Context, store *artifacts.Resolver, r *runs.Record) (map[string][]byte, error) {
	p, err := plan.Read(ctx, store, r.Plan)
	if errors.Is(err, artifacts.ErrNotExist) || r.Plan.IsZero() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	configs := map[string][]byte{}
	for _, s := range p.Steps {
		if address.Of(s.Address).IsRendered() {
			configs[s.Address] = s.Task.Config
		}
	}
	return configs, nil
}

// diffChecks compares the verdicts on two results of a table or figure, by the second run's expectations.
func diffChecks(ctx context.Context, store *artifacts.Resolver, address string, config []byte, was, is *artifacts.Result) (ds []Check, err error) {
	if config == nil {
		return nil, nil
	}
	before, err := expect.Result(ctx, address, config, was, store.Open)
	if err != nil {
		return nil, err
	}
	after, err := expect.Result(ctx, address, config, is, store.Open)
	if err != nil {
		return nil, err
	}
	verdicts := map[string]render.Verdict{}
	name := func(c render.Check) string { return fmt.Sprintf("%s %s %s %s", c.Cell, c.Form, c.Text, c.Scale) }
	for _, c := range before {
		verdicts[name(c)] = c.Verdict
	}
	for _, c := range after {
		if a := verdicts[name(c)]; a != c.Verdict {
			ds = append(ds, Check{a, c.Verdict, c.Said()})
		}
	}
	return ds, nil
}
