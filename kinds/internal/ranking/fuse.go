package ranking

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/ranking/fusion"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type fuseConfig struct {
	Runs      map[string]step.Input `hcl:"runs" accepts:"trec/run" help:"rankings of the same queries, by the system's name"`
	Method    string                `hcl:"method,optional" enum:"rrf,weighted" help:"rrf: reciprocal ranks are added; weighted: scores, as normalize makes them"`
	K         int                   `hcl:"k,optional" min:"0" help:"of rrf: what is added to each rank"`
	Normalize string                `hcl:"normalize,optional" enum:",min_max,max,zscore,none" help:"of weighted: what becomes of the scores of a query in a run: from 0 to 1, shares of the highest, mean 0 and deviation 1, or nothing; default min_max"`
	Weights   map[string]float64    `hcl:"weights,optional" help:"what a system's part is multiplied with, by its name; default 1 each"`
	Depth     int                   `hcl:"depth,optional" min:"1" help:"documents of a ranking, at most"`
}

type fuseReport struct {
	Rankings map[string]int `json:"rankings"` // by system
	Queries  int            `json:"queries"`  // for which any system ranks documents
	Partial  int            `json:"partial"`  // for which not all systems do
	Hits     int64          `json:"hits"`     // lines of the run
}

var Fuse = step.Define(step.Kind[fuseConfig]{
	Name:    "fuse",
	Version: 1,
	Doc: `Join rankings of several systems into one, by reciprocal ranks or weighted scores.
With rrf a document scores the sum over systems of weight / (k + rank), ranks from 1
(Cormack et al., SIGIR 2009); with weighted the sum of weight x normalized score. A system
that does not rank a document, or a query, adds nothing to it; under min_max that is also
what its last document gets, and a ranking's only one. Hypotheses of a beam that name no
document are left out first. Values equal ranx's (rrf, and wsum of its min-max, max
and zmuv). Equal scores are ordered by document number. Cost: a second for a million
lines; memory grows with them, 16 bytes each, and 100 bytes a document.`,
	Example: `step "fuse" "hybrid" {
  runs    = { bm25 = step.bm25.dev.run, dense = step.dense.dev.run }
  method  = "weighted"
  weights = { bm25 = 0.3, dense = 0.7 }
}`,
	Outputs: []step.Output{
		{Name: "run", Type: "trec/run", Help: "rankings, documents and queries by the names that the runs have",
			Alike: step.Runs{Depth: 100, Overlap: 0.999}, Why: "the last bits of sums, and so may the order of nearly equal scores"},
		{Name: "report", Type: "fuse/report", Help: "what was joined, as JSON", Fields: step.FieldsOf[fuseReport]()},
	},
	Defaults: fuseConfig{Method: "rrf", K: 60, Depth: 1000},
	Check: inout.Checks(func(c fuseConfig, ps *step.Problems) {
		inout.Check(ps, "runs", len(c.Runs) >= 2, "has %d: give two at least, by the names of their systems", len(c.Runs))
		inout.Check(ps, "normalize", c.Normalize == "" || c.Method == "weighted", `is for method = "weighted"`)
		for _, name := range slices.Sorted(maps.Keys(c.Weights)) {
			_, is := c.Runs[name]
			inout.Check(ps, "weights", is, "%q is not one of runs", name)
		}
	}),
	Declares: func(c fuseConfig) map[string]*step.Fields {
		return map[string]*step.Fields{"report": step.FieldsOf[fuseReport]().With("rankings", slices.Sorted(maps.Keys(c.Runs))...)}
	},
	Run: runFuse,
})

func runFuse(_ context.Context, x *step.IO, c fuseConfig) error {
	how := fusion.Method{K: c.K, Depth: c.Depth}
	if c.Method == "weighted" {
		how.Normalize = cmp.Or(fusion.Normalize(c.Normalize), fusion.MinMax)
	}
	report := fuseReport{Rankings: map[string]int{}}
	f := fusion.New(how)
	for _, name := range slices.Sorted(maps.Keys(c.Runs)) {
		weight, given := c.Weights[name]
		if !given {
			weight = 1
		}
		n, err := inout.Read(x, c.Runs[name], name, func(r io.Reader) (int, error) { return f.Add(trec.Rankings(r), weight) })
		if err != nil {
			return err
		}
		report.Rankings[name] = n
	}
	if report.Queries = f.Queries(); report.Queries == 0 {
		return step.Permanent(errors.New("the runs have no line: they rank nothing"))
	}
	err := inout.WriteRuns(x, func(put func([]trec.Ranking) error) error {
		for r := range f.Rankings() {
			report.Hits += int64(len(r.Hypotheses))
			if err := put([]trec.Ranking{r}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	report.Partial = f.Partial()
	return inout.WriteReport(x, report, map[string]int{"queries": report.Queries, "partial": report.Partial})
}
