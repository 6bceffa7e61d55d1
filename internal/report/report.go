package report

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/fetch"
	"github.com/redsi/redsi/internal/plan"
	"github.com/redsi/redsi/internal/render"
)

// Options say what the report cannot find out from results.
type Options struct {
	Store     string
	UI        string // address of Temporal's UI; "" shows workflow ids without links
	Namespace string
}

// Report is everything that the page shows.
type Report struct {
	Options
	Pipeline string
	Targets  []string
	Runs     []string // that left the results, newest first
	Newest   time.Time
	Scales   []string // declared by tables and figures; none is full
	Summary  plan.Summary
	Verdicts map[render.Verdict]int
	Items    []*Item
	Nodes    []Node
	Curves   []*Curve // of trainings that have results
	Envs     []Environment
	Files    []SourceFile
	Took     time.Duration
	Bytes    int64
}

// Environment is where steps ran.
type Environment struct {
	Values map[string]string
	Steps  int
}

// SourceFile is a file that was brought in from outside.
type SourceFile struct {
	Step, URL, SHA256, License string
	Size                       int64
	Index                      int
}

// Build reads what the page needs: the JSON of tables and figures, training
// curves, and the first lines of small artifacts.
func Build(ctx context.Context, v *plan.Preview, read Reader, o Options) (*Report, error) {
	nodes, err := Nodes(v)
	if err != nil {
		return nil, err
	}
	r := &Report{Options: o, Pipeline: v.Plan.Pipeline, Targets: v.Plan.Targets, Summary: v.Summary(), Nodes: nodes, Verdicts: map[render.Verdict]int{}}
	r.Items = make([]*Item, 0)
	for i := range nodes {
		if _, ok := isRendered(nodes[i].Address); ok {
			r.Items = append(r.Items, &Item{Index: i})
		}
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for k := range r.Items {
		g.Go(func() (err error) {
			r.Items[k], err = loadItem(gctx, v, nodes, r.Items[k].Index, read)
			return err
		})
	}
	curves := make([]*Curve, len(nodes))
	for i := range nodes {
		g.Go(func() error { return preview(gctx, v.Items[i].Result, nodes[i].Outputs, read) })
		for name, a := range outputsOf(v.Items[i].Result) {
			if a.Type == curveType {
				g.Go(func() (err error) {
					curves[i], err = loadCurve(gctx, &nodes[i], v.Items[i].Result, name, read)
					return err
				})
			}
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	r.Curves = slices.DeleteFunc(curves, func(c *Curve) bool { return c == nil })
	r.summarize(v)
	return r, r.addFiles(v)
}

func outputsOf(r *artifacts.Result) map[string]artifacts.Artifact {
	if r == nil {
		return nil
	}
	return r.Outputs
}

func (r *Report) summarize(v *plan.Preview) {
	scales, runs, envs := map[string]bool{}, map[string]bool{}, map[string]*Environment{}
	for _, it := range r.Items {
		if it.Scale != "" {
			scales[it.Scale] = true
		}
		for _, c := range it.Checks {
			r.Verdicts[c.Verdict]++
		}
	}
	for i, n := range r.Nodes {
		r.Took += time.Duration(n.TookS * float64(time.Second))
		r.Bytes += n.Bytes
		res := v.Items[i].Result
		if res == nil {
			continue
		}
		if res.Finished.After(r.Newest) {
			r.Newest = res.Finished
		}
		runs[n.Run] = n.Run != ""
		key := fmt.Sprint(n.Env) // maps print with sorted keys
		if envs[key] == nil {
			envs[key] = &Environment{Values: n.Env}
		}
		envs[key].Steps++
	}
	r.Scales = slices.Sorted(maps.Keys(scales))
	for run, named := range runs {
		if named {
			r.Runs = append(r.Runs, run)
		}
	}
	slices.Sort(r.Runs)
	slices.Reverse(r.Runs)
	for _, key := range slices.Sorted(maps.Keys(envs)) {
		r.Envs = append(r.Envs, *envs[key])
	}
	sort.SliceStable(r.Envs, func(a, b int) bool { return r.Envs[a].Steps > r.Envs[b].Steps })
}

// addFiles lists the files of downloads with where they came from.
func (r *Report) addFiles(v *plan.Preview) error {
	for i, n := range r.Nodes {
		if n.Kind != "download" {
			continue
		}
		var c struct {
			URLs, Names, SHA256 []string
			License             string
		}
		if err := json.Unmarshal(v.Plan.Steps[i].Task.Config, &c); err != nil {
			return fmt.Errorf("%s: %w", n.Address, err)
		}
		for k, u := range c.URLs {
			f := SourceFile{Step: n.Address, URL: fetch.Redact(u), License: c.License, Index: i, Size: -1}
			if res := v.Items[i].Result; res != nil && k < len(c.Names) {
				if file, ok := res.Outputs["files"].File(c.Names[k]); ok {
					f.SHA256, f.Size = file.Digest.Hex(), file.Size
				}
			}
			r.Files = append(r.Files, f)
		}
	}
	return nil
}

// Bounds of what the page shows of data.
const (
	previewed    = 256 << 10 // bytes of an artifact, beyond which it is not opened
	previewChars = 1200
)

// preview fills in the beginnings of small outputs that are text.
func preview(ctx context.Context, r *artifacts.Result, outputs []Output, read Reader) error {
	for k := range outputs {
		o := &outputs[k]
		if _, ok := digestOf(r, o.Name); !ok || o.Size > previewed || strings.HasPrefix(o.Type, "figure/") || strings.HasPrefix(o.Type, "table/") || o.Type == curveType {
			continue
		}
		b, err := readOutput(ctx, r, o.Name, read)
		if err != nil {
			return err
		}
		if utf8.Valid(b) && !slices.ContainsFunc([]rune(string(b[:min(len(b), 4096)])), func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' && c != '\r' }) {
			o.Preview = Clip(string(b), previewChars)
		}
	}
	return nil
}

// Full reports whether the results are at the paper's scale.
func (r *Report) Full() bool {
	return !slices.ContainsFunc(r.Scales, func(s string) bool { return s != "full" })
}

// Complete reports whether every step has a result.
func (r *Report) Complete() bool { return r.Summary.Run+r.Summary.Maybe == 0 }

// Count is how many comparisons with the paper came to a verdict.
func (r *Report) Count(verdict string) int { return r.Verdicts[render.Verdict(verdict)] }
