package checklist

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

const parametersField = "parameters" // the name of a report's field or a count with the size of a model

// Bounds of the reports that are read to find the sizes of models.
const (
	mostReports = 2000
	mostReport  = 64 << 10 // bytes
)

// Sizes finds how large models are, by counts of results and fields of reports, and which packages steps ran with.
type Sizes struct {
	reg     *step.Registry
	plan    *plan.Plan
	reports []sized
	found   map[string]map[int64]bool           // by block
	lists   map[artifacts.Digest]artifacts.File // of environments
}

type sized struct {
	block  string
	digest artifacts.Digest
}

// NewSizes returns the empty Sizes of a plan.
func NewSizes(reg *step.Registry, p *plan.Plan) *Sizes {
	return &Sizes{reg: reg, plan: p, found: map[string]map[int64]bool{}, lists: map[artifacts.Digest]artifacts.File{}}
}

// Note records the result of step i.
func (s *Sizes) Note(i int, r *artifacts.Result) {
	if f, ok := environment.ListOf(r); ok {
		s.lists[f.Digest] = f
	}
	block := s.plan.Steps[i].Block()
	if n := r.Counts[parametersField]; n > 0 {
		s.add(block, n)
	}
	spec := s.reg.Lookup(s.plan.Steps[i].Task.Kind)
	if spec == nil || r.Released || len(s.reports) == mostReports {
		return
	}
	for _, o := range spec.Outputs {
		a := r.Outputs[o.Name]
		if o.Fields != nil && a.Files == nil && a.Size <= mostReport && slices.ContainsFunc(o.Fields.Object, func(f step.Field) bool { return f.Name == parametersField }) {
			s.reports = append(s.reports, sized{block, a.Digest})
			return
		}
	}
}

func (s *Sizes) add(block string, n int64) {
	if s.found[block] == nil {
		s.found[block] = map[int64]bool{}
	}
	s.found[block][n] = true
}

func (s *Sizes) packages(ctx context.Context, blobs artifacts.BlobReader) ([]environment.Package, error) {
	all := map[environment.Package]bool{}
	for _, f := range s.lists {
		list, err := environment.ReadList(ctx, f, blobs.Open)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			all[p] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b environment.Package) int { return strings.Compare(a.String(), b.String()) }), nil
}

// Read returns the sizes of models by block, smallest first, and the packages that steps ran with.
func (s *Sizes) Read(ctx context.Context, blobs artifacts.BlobReader) (map[string][]int64, []environment.Package, error) {
	counts := make([]int64, len(s.reports))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for i, x := range s.reports {
		g.Go(func() error {
			b, err := artifacts.ReadBlob(gctx, blobs, x.digest, mostReport)
			if err != nil {
				return fmt.Errorf("a report of %s: %w", x.block, err)
			}
			var report struct{ Parameters int64 }
			if json.Unmarshal(b, &report) == nil {
				counts[i] = report.Parameters
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	for i, n := range counts {
		if n > 0 {
			s.add(s.reports[i].block, n)
		}
	}
	out := map[string][]int64{}
	for block, set := range s.found {
		out[block] = slices.Sorted(maps.Keys(set))
	}
	packages, err := s.packages(ctx, blobs)
	return out, packages, err
}
